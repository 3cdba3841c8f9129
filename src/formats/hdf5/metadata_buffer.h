// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/descriptor.h"

namespace iocomp::formats::h5 {

/// The metadata that HDF5 has written to a file and the file does not have yet: exactly those
/// bytes, so that storing them touches nothing that others wrote beside them.
class MetadataBuffer {
 public:
  /// @param withheld_bytes  at the beginning of the file, that `store` leaves out.
  explicit MetadataBuffer(Descriptor file, std::int64_t withheld_bytes = 0) noexcept
      : file_{std::move(file)}, withheld_bytes_{withheld_bytes} {}

  [[nodiscard]] const Descriptor& file() const noexcept { return file_; }

  void write(std::int64_t offset, std::span<const std::byte> bytes);

  /// Reads the bytes that were written last, from the buffer or else from the file; zeros beyond
  /// its end.
  /// @return 0 or errno.
  [[nodiscard]] int read(std::int64_t offset, std::span<std::byte> bytes) const;

  /// Write everything to the file but the bytes that are withheld. Bytes that could not be written
  /// stay here.
  /// @return 0 or errno.
  [[nodiscard]] int store();
  /// The required length of the file, and the reason for it.
  struct Length {
    std::int64_t least = 0;
    std::int64_t durable = 0;  ///< so long it is by what others have made durable
    std::int64_t placed = 0;   ///< behind this nobody writes
  };
  /// Make the file at least so long, so that the next fsync makes that durable: others may have
  /// made it as long by writes that are still under way.
  /// @return 0 or errno.
  [[nodiscard]] int extend(const Length& length);
  /// Make the file exactly so long. Nobody else may write behind that.
  /// @return 0 or errno.
  [[nodiscard]] int set_length(std::int64_t bytes);

 private:
  void make_way(std::int64_t begin, std::int64_t end);

  Descriptor file_;
  std::int64_t withheld_bytes_;
  std::int64_t own_bytes_ = 0;                              // of the file: so long this has made it
  std::map<std::int64_t, std::vector<std::byte>> extents_;  // by offset; they do not overlap
};

}  // namespace iocomp::formats::h5
