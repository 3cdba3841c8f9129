// SPDX-License-Identifier: BSD-3-Clause
// Reads what manifests call "frames". It is written by back-end posix.
#include "formats/source.h"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "compress/shuffle.h"
#include "compress/zstd.h"
#include "formats/frames/index.h"
#include "formats/part_copy.h"
#include "formats/sources.h"
#include "formats/sub_boxes.h"

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

FrameSource::FrameSource(const Path& path)
    : path_{path.text()},
      file_{path.folder().open(path.name(), O_RDONLY, OpenFolder::Links::followed)} {
  const std::int64_t size = length_of(file_, path_);
  const auto before = size - static_cast<std::int64_t>(trailer_bytes);
  const auto trailer =
      before < 0 ? std::vector<std::byte>(trailer_bytes) : bytes_at(before, trailer_bytes);
  const std::size_t length = index_bytes(trailer, path_);
  if (length > static_cast<std::size_t>(std::max<std::int64_t>(before, 0))) {
    throw Error{ErrorCode::storage_failure,
                "cannot read " + path_ + ": the index of its frames is longer than the file"};
  }
  const auto json = bytes_at(before - static_cast<std::int64_t>(length), length);
  index_ =
      index_from({reinterpret_cast<const char*>(json.data()), json.size()}, trailer, size, path_);
}

std::vector<std::byte> FrameSource::bytes_at(std::int64_t offset, std::size_t bytes) const {
  std::vector<std::byte> found(bytes);
  read_plainly(file_, offset, found, path_);
  return found;
}

void FrameSource::decode(const Stored& stored, const Frame& frame,
                         std::vector<std::byte>& values) const {
  const std::size_t element = array::size_bytes(stored.type);
  values.resize(static_cast<std::size_t>(frame.what.count) * element);
  const auto bytes = bytes_at(frame.offset, static_cast<std::size_t>(frame.bytes));
  if (!stored.is_compressed && bytes.size() != values.size()) {
    throw Error{ErrorCode::storage_failure, "a part has another size than its index says"};
  }
  if (!stored.is_compressed) {
    values = bytes;
  } else if (stored.is_shuffled) {
    std::vector<std::byte> shuffled(values.size());
    compress::unpack_zstd(bytes, shuffled);
    compress::unshuffle(shuffled, element, values.data());
  } else {
    compress::unpack_zstd(bytes, values);
  }
}

void FrameSource::read(const Placed& where, const array::Box& box, const Destination& to) {
  const auto found = index_.find(where.variable.name);
  if (found == index_.end() || found->second.type != where.variable.type ||
      found->second.shape != where.variable.shape) {
    throw Error{ErrorCode::storage_failure, "cannot read " + path_ + ": its frames have no \"" +
                                                where.variable.name +
                                                "\" of the type and shape that its manifest tells"};
  }
  const Stored& stored = found->second;
  const std::size_t element = array::size_bytes(stored.type);
  // Elements of no frame are zeros: holes of another value were written.
  fill_part(box, box, to, std::vector<std::byte>(element));
  std::vector<std::byte> values;
  for (const Frame& frame : stored.frames) {
    const auto parts = sub_boxes(frame.what.box, frame.what.first, frame.what.count);
    if (std::ranges::none_of(parts,
                             [&](const auto& part) { return common(part, box).has_value(); })) {
      continue;
    }
    try {
      decode(stored, frame, values);
    } catch (const Error& error) {
      throw Error{error.code(), "cannot read " + path_ + ": the frame of \"" + where.variable.name +
                                    "\" at byte " + std::to_string(frame.offset) + ": " +
                                    error.what()};
    }
    const std::byte* packed = values.data();
    for (const auto& part : parts) {
      copy_part(part, packed, box, to, element);
      packed += static_cast<std::size_t>(array::elements(part)) * element;
    }
  }
}

}  // namespace iocomp::formats::frames

namespace {

std::string version() { return "Zstandard (RFC 8878)"; }

std::unique_ptr<iocomp::formats::Source> open(const iocomp::Path& path, std::mutex& /*library*/) {
  return std::make_unique<iocomp::formats::frames::FrameSource>(path);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open};
