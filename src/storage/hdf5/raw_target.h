#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/format.h"
#include "storage/hdf5/dataset.h"
#include "storage/hdf5/metadata_buffer.h"

namespace iocomp::storage::h5 {

/// The raw path: the lead alone has the file open in HDF5, for the metadata; anybody writes the
/// data, at the offsets that `place` returns, through other descriptors. HDF5 keeps no data of its
/// own, so neither disturbs the other.
class RawTarget : public Target {
 public:
  RawTarget(std::string path, const FormatOptions& options);
  ~RawTarget() override;

  std::int64_t place(const Variable& variable, std::int64_t step) override;
  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  void flush() override;
  void finish(const Description& description) override;

 private:
  void store(std::int64_t file_bytes);

  std::string path_;
  MetadataBuffer buffer_;
  hid_t file_ = H5I_INVALID_HID;  // closed before the buffer goes
  Creation creation_;
  Datasets created_;
};

}  // namespace iocomp::storage::h5
