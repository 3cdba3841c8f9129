// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/path.h"
#include "formats/frames/index.h"
#include "formats/source.h"

namespace iocomp::formats::frames {

/// Reads a compressed checkpoint that back-end posix of iocomp 0.2 has written, on any
/// number of ranks. Of each frame that has something of a box, it reads all.
class FrameSource : public Source {
 public:
  /// @throws Error{storage_failure}; Error{unsupported} for an index of a later release.
  explicit FrameSource(const Path& path);

  void read(const Placed& where, const array::Box& box, const Destination& to) override;

 private:
  [[nodiscard]] std::vector<std::byte> bytes_at(std::int64_t offset, std::size_t bytes) const;
  void decode(const Stored& stored, const Frame& frame, std::vector<std::byte>& values) const;

  std::string path_;
  Descriptor file_;
  Index index_;
};

}  // namespace iocomp::formats::frames
