// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/object_header.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/metadata_buffer.h"

namespace iocomp::formats::h5 {
namespace {

constexpr std::string_view header_signature = "OHDR";
constexpr std::string_view block_signature = "OCHK";
constexpr std::size_t signature_bytes = 4;
constexpr std::size_t checksum_bytes = 4;
constexpr std::size_t message_head_bytes = 4;  // type, length, flags

enum Flags : std::uint8_t {
  length_of_size = 0x03,
  keeps_order = 0x04,
  has_phase_change = 0x10,
  has_times = 0x20,
};

[[noreturn]] void unknown_way(const std::string& what) {
  throw Error{ErrorCode::storage_failure,
              "HDF5 wrote an object header in another way than iocomp knows: " + what};
}

void put_messages(Encoder& encoder, std::span<const HeaderMessage> messages) {
  for (const auto& message : messages) {
    encoder.put8(message.type);
    encoder.put16(static_cast<std::uint16_t>(message.bytes.size()));
    encoder.put8(message.flags);
    encoder.put_bytes(message.bytes);
  }
}

std::size_t bytes_of_all(std::span<const HeaderMessage> messages) {
  std::size_t bytes = 0;
  for (const auto& message : messages) {
    bytes += message_head_bytes + message.bytes.size();
  }
  return bytes;
}

void check_signature(std::span<const std::byte> bytes, std::string_view signature) {
  if (bytes.size() < signature.size() ||
      std::memcmp(bytes.data(), signature.data(), signature.size()) != 0) {
    unknown_way("it does not begin with " + std::string{signature});
  }
}

}  // namespace

std::vector<std::byte> encode_object_header(std::span<const HeaderMessage> messages) {
  Encoder encoder;
  encoder.put_text(header_signature);
  encoder.put8(2);  // version
  encoder.put8(2);  // the size has four bytes
  encoder.put32(static_cast<std::uint32_t>(bytes_of_all(messages)));
  put_messages(encoder, messages);
  encoder.put_checksum();
  return encoder.take();
}

std::vector<std::byte> encode_continuation(std::span<const HeaderMessage> messages) {
  Encoder encoder;
  encoder.put_text(block_signature);
  put_messages(encoder, messages);
  encoder.put_checksum();
  return encoder.take();
}

HeaderMessage continued_at(const Extent& block) {
  Encoder encoder;
  encoder.put64(block.offset);
  encoder.put64(block.bytes);
  return {HeaderMessage::continuation, 0, encoder.take()};
}

ObjectHeader::ObjectHeader(const MetadataBuffer& buffer, std::int64_t address) {
  constexpr std::size_t most_prefix_bytes = 34;
  constexpr std::size_t phase_change_bytes = 4;
  constexpr std::size_t times_bytes = 16;
  std::array<std::byte, most_prefix_bytes> prefix{};
  const int error = buffer.read(address, prefix);
  if (error != 0) {
    throw failure("read", "an object header", error);
  }
  check_signature(prefix, header_signature);
  const auto version = std::to_integer<unsigned>(prefix[signature_bytes]);
  if (version != 2) {
    unknown_way("its version is " + std::to_string(version));
  }
  const auto flags = std::to_integer<unsigned>(prefix[signature_bytes + 1]);
  has_order_ = (flags & keeps_order) != 0;
  std::size_t at = signature_bytes + 2;
  at += (flags & has_times) != 0 ? times_bytes : 0;
  at += (flags & has_phase_change) != 0 ? phase_change_bytes : 0;
  const int length = 1 << (flags & length_of_size);
  const auto size = static_cast<std::size_t>(number_at(prefix, at, length));
  const std::size_t first = at + static_cast<std::size_t>(length);
  read(buffer, address, first + size + checksum_bytes, first);
}

// And whatever it goes on in.
void ObjectHeader::read(const MetadataBuffer& buffer, std::int64_t address, std::size_t bytes,
                        std::size_t first) {
  Chunk chunk{address, std::vector<std::byte>(bytes), first};
  const int error = buffer.read(address, chunk.bytes);
  if (error != 0) {
    throw failure("read", "an object header", error);
  }
  std::vector<std::pair<std::int64_t, std::size_t>> more;
  visit(chunk, [&](const Found& found) {
    if (found.type == HeaderMessage::continuation) {
      more.emplace_back(
          static_cast<std::int64_t>(number_at(found.chunk->bytes, found.begin, 8)),
          static_cast<std::size_t>(number_at(found.chunk->bytes, found.begin + 8, 8)));
    }
  });
  chunks_.push_back(std::move(chunk));
  for (const auto& [next, length] : more) {
    read(buffer, next, length, signature_bytes);
    check_signature(chunks_.back().bytes, block_signature);
  }
}

template <typename Visit>
void ObjectHeader::visit(Chunk& chunk, Visit&& visit) const {
  const std::size_t head = message_head_bytes + (has_order_ ? 2 : 0);
  const std::size_t end = chunk.bytes.size() - checksum_bytes;
  for (std::size_t at = chunk.first; at + head <= end;) {  // less is a gap
    Found found{&chunk, static_cast<std::uint8_t>(number_at(chunk.bytes, at, 1)),
                static_cast<std::uint8_t>(number_at(chunk.bytes, at + 3, 1)), at + head,
                static_cast<std::size_t>(number_at(chunk.bytes, at + 1, 2))};
    if (found.begin + found.bytes > end) {
      unknown_way("a message is longer than what holds it");
    }
    visit(found);
    at = found.begin + found.bytes;
  }
}

std::vector<HeaderMessage> ObjectHeader::messages() const {
  std::vector<HeaderMessage> all;
  for (Chunk chunk : chunks_) {
    visit(chunk, [&all](const Found& found) {
      if (found.type != HeaderMessage::nothing && found.type != HeaderMessage::continuation &&
          found.type != HeaderMessage::reference_count) {
        const auto begin = found.chunk->bytes.begin() + static_cast<std::ptrdiff_t>(found.begin);
        all.push_back(
            {found.type, found.flags, {begin, begin + static_cast<std::ptrdiff_t>(found.bytes)}});
      }
    });
  }
  return all;
}

ObjectHeader::Found ObjectHeader::find(std::uint8_t type) {
  Found result;
  for (auto& chunk : chunks_) {
    visit(chunk, [&](const Found& found) {
      if (found.type == type) {
        result = found;
      }
    });
  }
  if (result.chunk == nullptr) {
    unknown_way("it has no message of type " + std::to_string(type));
  }
  return result;
}

// Specification, IV.A.2.b, version 2: version, rank, flags, kind, extents.
void ObjectHeader::set_records(std::int64_t records) {
  const Found space = find(HeaderMessage::dataspace);
  if (space.bytes < 12 || number_at(space.chunk->bytes, space.begin, 1) != 2) {
    unknown_way("the extent of a dataset");
  }
  put_number_at(space.chunk->bytes, space.begin + 4, static_cast<std::uint64_t>(records), 8);
}

// Specification, IV.A.2.i, version 3: version, class (2: in chunks), rank, address.
ObjectHeader::Found ObjectHeader::find_chunked_layout() {
  const Found layout = find(HeaderMessage::layout);
  if (layout.bytes < 11 || number_at(layout.chunk->bytes, layout.begin, 2) != 0x0203) {
    unknown_way("the layout of a dataset");
  }
  return layout;
}

std::int64_t ObjectHeader::index() {
  const Found layout = find_chunked_layout();
  return static_cast<std::int64_t>(number_at(layout.chunk->bytes, layout.begin + 3, 8));
}

void ObjectHeader::set_index(std::int64_t address) {
  const Found layout = find_chunked_layout();
  put_number_at(layout.chunk->bytes, layout.begin + 3, static_cast<std::uint64_t>(address), 8);
}

void ObjectHeader::store(MetadataBuffer& buffer) {
  for (auto& chunk : chunks_) {
    const std::size_t end = chunk.bytes.size() - checksum_bytes;
    put_number_at(chunk.bytes, end, checksum(std::span{chunk.bytes}.first(end)), 4);
    buffer.write(chunk.address, chunk.bytes);
  }
}

}  // namespace iocomp::formats::h5
