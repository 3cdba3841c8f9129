#pragma once

#include <hdf5.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "storage/cdf/reserved_room.h"
#include "storage/descriptor.h"
#include "storage/format.h"
#include "storage/hdf5/time_dataset.h"

namespace iocomp::storage::h5 {

/// `layout = "time"`: each variable is one chunked dataset that grows with the steps. All writers
/// have the file open through HDF5's MPI-IO driver; datasets grow together.
///
/// Without a filter, data are written independently as they come. Chunks that go through one are
/// written by HDF5 only where all writers call it for the whole step: then what was written is
/// remembered and given to it in `write_step`, in one call for each variable.
///
/// Room is set aside before anything is put into the file, as LibraryTarget does, and why.
class TimeTarget : public Target {
 public:
  /// Collective over `writers`.
  TimeTarget(std::string path, const FormatOptions& options, MPI_Comm writers);
  /// Leaks the file if `finish` was not called, as LibraryTarget does.
  ~TimeTarget() override = default;

  std::int64_t place(const Variable& variable, std::int64_t step) override;
  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  void flush() override;
  void write_step(std::int64_t step, const Description& description) override;
  void forget_step() noexcept override { parts_.clear(); }
  void finish(const Description& description) override;

 private:
  // What write_step will write.
  struct Part {
    int variable = 0;
    array::Box box;
    const std::byte* bytes = nullptr;
  };
  TimeDataset& dataset(const Variable& variable);
  void reserve(std::int64_t more_bytes, const std::string& action);
  void write_variable(const Placed& placed);
  [[nodiscard]] std::int64_t size_on_disk() const;
  void fill_what_nobody_put(const Description& description);

  std::string path_;
  FormatOptions options_;
  MPI_Comm writers_;
  int rank_ = 0;
  Descriptor plain_;
  cdf::ReservedRoom room_;
  std::int64_t metadata_bytes_ = 0;  // the most that is put into the file by one call
  std::int64_t end_ = 0;             // of the file, at most
  hid_t file_ = H5I_INVALID_HID;
  std::map<int, std::unique_ptr<TimeDataset>> datasets_;  // by id of the variable
  std::set<std::pair<std::int64_t, int>> placed_;
  std::vector<Part> parts_;
};

}  // namespace iocomp::storage::h5
