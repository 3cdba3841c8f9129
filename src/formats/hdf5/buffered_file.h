// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/path.h"
#include "formats/format.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/metadata_buffer.h"

namespace iocomp::formats::h5 {

/// A file that one process alone has open in HDF5, for the metadata. HDF5 writes them to memory,
/// since it does not survive a write that fails; such a write fails here. Data are written by
/// anybody, through other descriptors. The root that HDF5 sees never gets into the file.
class BufferedFile {
 public:
  /// If the options say that the file exists, its bytes stay, and bytes behind its end are cut off.
  /// HDF5 takes it for a new file and allots room behind those bytes.
  /// @param creation  the properties of the file; none: the usual ones.
  /// @throws Error{storage_failure}.
  BufferedFile(const Path& path, const FormatOptions& options, const Properties& creation = {});
  BufferedFile(const BufferedFile&) = delete;
  BufferedFile& operator=(const BufferedFile&) = delete;
  /// Abandons the file if `close` was not called.
  ~BufferedFile();

  [[nodiscard]] hid_t raw() const noexcept { return file_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The file, for writing data that HDF5 does not know.
  [[nodiscard]] const Descriptor& plain() const noexcept { return buffer_.file(); }

  /// The bytes that HDF5 has written, and those that are written beside them.
  [[nodiscard]] MetadataBuffer& buffer() noexcept { return buffer_; }
  /// Room for metadata that iocomp itself writes: small parts of large blocks.
  /// @return the address of so many bytes, a multiple of eight.
  [[nodiscard]] std::int64_t take_metadata(std::int64_t bytes);
  /// Have HDF5 write all that it keeps to the buffer.
  void flush();
  /// Store in the file what the buffer has.
  /// @param root_group  shall become the root of the file.
  /// @param end  of the data below it, beside those that are visible.
  /// @param durable_end  the end of those that are durable.
  /// @param is_last  nobody has room behind that: the file gets no longer.
  /// @return the switch that makes the group the root.
  /// @throws Error{storage_failure}; then it can be tried again.
  [[nodiscard]] Switch store(std::int64_t root_group, std::int64_t end, std::int64_t durable_end,
                             bool is_last);
  /// Nobody writes any more: the file gets the length of its visible part.
  /// @throws Error{storage_failure}.
  void trim();
  /// It is the root now.
  void is_visible() noexcept { visible_end_ = next_end_; }
  /// Objects that are still open in the file are closed. What was not stored is gone.
  void close();

 private:
  [[nodiscard]] std::int64_t end_of_earlier() const;
  void set_length(std::int64_t bytes);

  std::string path_;
  MetadataBuffer buffer_;
  std::int64_t earlier_bytes_;    // a manifest may count them
  std::int64_t visible_end_ = 0;  // of what the root leads to
  std::int64_t next_end_ = 0;
  std::int64_t next_metadata_ = 0;  // in the block that take_metadata divides
  std::int64_t end_of_metadata_ = 0;
  hid_t file_ = H5I_INVALID_HID;  // closed before the buffer goes
};

}  // namespace iocomp::formats::h5
