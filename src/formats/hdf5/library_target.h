#pragma once

#include <hdf5.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "array/box.h"
#include "base/descriptor.h"
#include "formats/format.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {

/// The library's path: all writers have the file open through HDF5's MPI-IO driver. Datasets are
/// made together, data are written independently.
///
/// HDF5 does not survive metadata that cannot be written: one rank leaves the collective call in
/// which others stay, and the file that is half closed brings the process down when MPI is
/// finalized. So room is set aside before anything is put into the file, and a full disk shows
/// while HDF5 knows nothing of what does not fit.
class LibraryTarget : public Target {
 public:
  /// Collective over `writers`.
  LibraryTarget(std::string path, const FormatOptions& options, MPI_Comm writers);
  /// Leaks the file if `finish` was not called: closing it is collective, and the other writers may
  /// not follow. HDF5 closes it when MPI is finalized, where all processes meet again.
  ~LibraryTarget() override = default;

  std::int64_t place(const Variable& variable, std::int64_t step) override;
  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  void write_together(const Placed& where, const array::Box& box,
                      std::span<const std::byte> bytes) override;
  void flush() override;
  void finish(const Description& description) override;

 private:
  void reserve_on_all(std::int64_t more_bytes, const std::string& action);
  void note_the_end(const Dataset& dataset, const Variable& variable);
  void write_without_hdf5(const Placed& where, const array::Box& part, const std::byte* bytes);
  void write_slice(const Placed& where, const Selection& slice, const std::byte* bytes);
  void open(const std::string& name);

  std::string path_;
  MPI_Comm writers_;
  Descriptor plain_;
  std::int64_t metadata_bytes_ = 0;  // the most that the objects around one dataset take
  std::int64_t reserved_ = 0;
  std::int64_t end_of_data_ = 0;
  std::int64_t after_data_ = 0;  // the most that was put into the file behind that
  hid_t file_ = H5I_INVALID_HID;
  Datasets created_;
  std::string
      open_name_;  // the dataset written last stays open: pieces of one variable come in a row
  Dataset open_;
};

}  // namespace iocomp::formats::h5
