// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/path.h"
#include "formats/format.h"
#include "formats/hdf5/metadata_buffer.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// A file that one process alone, the lead, has open in HDF5, for the metadata. HDF5 writes them to
/// memory, since it does not survive a write that fails; such a write fails here. Data are written
/// by anybody, through other descriptors. The root that HDF5 sees never gets into the file: each
/// commit switches to one that no reader has seen.
class BufferedFile : public PlainTarget {
 public:
  /// If the options say that the file exists, its bytes stay, and bytes behind its end are cut off.
  /// HDF5 takes it for a new file and allots room behind those bytes.
  /// @param others_write  at any time; else a step is written as a whole, by calls of all.
  /// @throws Error{storage_failure}, as all that follow.
  BufferedFile(const Path& path, const FormatOptions& options, bool others_write = true);
  BufferedFile(const BufferedFile&) = delete;
  BufferedFile& operator=(const BufferedFile&) = delete;
  /// Abandons the file if `finish` was not called.
  ~BufferedFile() override;

  std::int64_t place(const Variable& variable, std::int64_t step);
  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Known& /*known*/) final {
    return place(variable, step);
  }
  [[nodiscard]] Switch commit(const Description& description, std::int64_t from) final {
    return write(description, from, false);
  }
  void is_visible() override { visible_end_ = next_end_; }
  /// Closes objects that are still open in the file. What was not stored is gone.
  [[nodiscard]] Switch finish(const Description& description, std::int64_t from) final;

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

 protected:
  struct Root {
    std::int64_t address = 0;
    std::int64_t end = 0;          ///< of the data below it, beside those that are visible
    std::int64_t durable_end = 0;  ///< the end of those that are durable
  };

  /// Room for a variable in a step.
  /// @return the offset of its first byte; -1 if it has none, or if nobody knows yet where they go.
  virtual std::int64_t find_place(const Variable& variable, std::int64_t step) = 0;
  /// Make the root of a file that contains this from that step on.
  /// @return nothing if it is the last one, and readers see the like already.
  virtual std::optional<Root> write_root(const Description& description, std::int64_t from,
                                         bool is_last) = 0;
  /// True if no step has room but those that are committed with this one, or were before.
  [[nodiscard]] bool ends_with(const Description& description, std::int64_t from) const noexcept {
    return newest_ <= (description.contents.empty() ? from - 1 : description.contents.back().step);
  }
  /// The end of all rooms.
  [[nodiscard]] std::int64_t end_of_rooms() const noexcept { return end_of_rooms_; }

 private:
  [[nodiscard]] std::int64_t end_of_earlier() const;
  [[nodiscard]] Switch write(const Description& description, std::int64_t from, bool is_last);
  void set_length(std::int64_t bytes);

  std::string path_;
  MetadataBuffer buffer_;
  std::int64_t earlier_bytes_;    // a manifest may count them
  std::int64_t visible_end_ = 0;  // of what the root leads to
  std::int64_t next_end_ = 0;
  std::int64_t next_metadata_ = 0;  // in the block that take_metadata divides
  std::int64_t end_of_metadata_ = 0;
  bool others_write_;
  std::int64_t newest_ = -1;  // step with room
  std::int64_t end_of_rooms_ = 0;
  hid_t file_ = H5I_INVALID_HID;  // closed before the buffer goes
};

}  // namespace iocomp::formats::h5
