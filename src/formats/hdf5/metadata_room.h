// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "formats/hdf5/buffered_file.h"

namespace iocomp::formats::h5 {

/// Room in a file for metadata that iocomp itself writes: small parts of large blocks.
class MetadataRoom {
 public:
  explicit MetadataRoom(BufferedFile& file) : file_{file} {}

  [[nodiscard]] BufferedFile& file() const noexcept { return file_; }
  /// @return the address of so many bytes, a multiple of eight.
  [[nodiscard]] std::int64_t take(std::int64_t bytes);

 private:
  BufferedFile& file_;
  std::int64_t next_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace iocomp::formats::h5
