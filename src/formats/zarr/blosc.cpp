// SPDX-License-Identifier: BSD-3-Clause
#include "formats/zarr/blosc.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "compress/bench.h"
#include "compress/shuffle.h"
#include "compress/zstd.h"
#include "formats/format.h"

namespace iocomp::formats::zarr {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths are written as they are");

using Length = std::uint32_t;

struct Header {
  std::uint8_t version = 2;
  std::uint8_t version_of_library = 1;
  std::uint8_t flags = 0;
  std::uint8_t element_bytes = 1;
  Length bytes = 0;  ///< of the elements
  Length block_bytes = 0;
  Length stored_bytes = 0;  ///< with the header
};
static_assert(sizeof(Header) == 16);

constexpr unsigned is_shuffled = 0x01;
constexpr unsigned is_copied = 0x02;  // the elements follow the header as they are
constexpr unsigned has_sorted_bits = 0x04;
constexpr unsigned is_in_one_stream = 0x10;  // a block; else each byte of the elements is a stream
constexpr unsigned library_shift = 5;
constexpr unsigned zstandard = 4;

[[noreturn]] void refuse_chunk(const char* why) {
  throw Error{ErrorCode::storage_failure, std::string{"a chunk of Blosc "} + why};
}

template <typename Value>
Value value_at(std::span<const std::byte> bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Value)) {
    refuse_chunk("is too short");
  }
  Value value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span{&value, 1});
}

// Reads the streams of a block, one behind the other.
void read_streams(std::span<const std::byte> stored, std::size_t at, std::size_t streams,
                  std::span<std::byte> to) {
  const std::size_t each = to.size() / streams;
  for (std::size_t stream = 0; stream < streams; ++stream) {
    const auto length = value_at<Length>(stored, at);
    at += sizeof length;
    if (length > stored.size() - at) {
      refuse_chunk("is too short");
    }
    const auto from = stored.subspan(at, length);
    const auto part = to.subspan(stream * each, each);
    if (length == each) {
      std::ranges::copy(from, part.begin());
    } else {
      compress::unpack_zstd(from, part);
    }
    at += length;
  }
}

}  // namespace

void blosc(std::span<const std::byte> chunk, std::size_t element_bytes,
           const Compression& compression, compress::Bench& bench, std::vector<std::byte>& to) {
  const auto frame = compress::pack_zstd(compress::shuffled(chunk, element_bytes, bench),
                                         compression.level, true, bench);
  const auto first = static_cast<Length>(sizeof(Header) + sizeof(Length));  // of the one block
  Header header{.flags = zstandard << library_shift | is_in_one_stream,
                .element_bytes = static_cast<std::uint8_t>(element_bytes),
                .bytes = static_cast<Length>(chunk.size()),
                .block_bytes = static_cast<Length>(chunk.size())};
  const bool is_shorter = first + sizeof(Length) + frame.size() < sizeof header + chunk.size();
  header.flags |= is_shorter ? is_shuffled : is_copied;
  header.stored_bytes = static_cast<Length>(is_shorter ? first + sizeof(Length) + frame.size()
                                                       : sizeof header + chunk.size());
  to.resize(is_shorter ? first + sizeof(Length) : sizeof header);
  std::ranges::copy(bytes_of(header), to.begin());
  if (is_shorter) {
    const auto length = static_cast<Length>(frame.size());
    std::ranges::copy(bytes_of(first), to.begin() + sizeof header);
    std::ranges::copy(bytes_of(length), to.begin() + first);
  }
  const auto rest = is_shorter ? frame : chunk;
  to.insert(to.end(), rest.begin(), rest.end());
}

void unblosc(std::span<const std::byte> stored, std::span<std::byte> to) {
  const auto header = value_at<Header>(stored, 0);
  if (header.bytes != to.size() || header.stored_bytes != stored.size()) {
    refuse_chunk("has another length than its array says");
  }
  if ((header.flags & is_copied) != 0) {
    if (stored.size() - sizeof header != to.size()) {
      refuse_chunk("has another length than its array says");
    }
    std::ranges::copy(stored.subspan(sizeof header), to.begin());
    return;
  }
  if (header.flags >> library_shift != zstandard || (header.flags & has_sorted_bits) != 0) {
    throw Error{ErrorCode::unsupported,
                "a chunk of Blosc with another library than Zstandard, or with sorted bits, cannot "
                "be read"};
  }
  const std::size_t block_bytes = header.block_bytes;
  const std::size_t element_bytes = header.element_bytes;
  if (block_bytes == 0 || block_bytes > to.size() || element_bytes == 0 ||
      block_bytes % element_bytes != 0) {
    refuse_chunk("has impossible blocks");
  }
  const bool is_sorted = (header.flags & is_shuffled) != 0 && element_bytes > 1;
  std::vector<std::byte> sorted(is_sorted ? block_bytes : 0);
  for (std::size_t at = 0, block = 0; at < to.size(); at += block_bytes, ++block) {
    const auto part = to.subspan(at, std::min(block_bytes, to.size() - at));
    const bool is_whole = part.size() == block_bytes;
    const bool is_split = (header.flags & is_in_one_stream) == 0 && is_whole;
    const auto begin = value_at<Length>(stored, sizeof header + block * sizeof(Length));
    const auto into = is_sorted ? std::span{sorted}.first(part.size()) : part;
    read_streams(stored, begin, is_split ? element_bytes : 1, into);
    if (is_sorted) {
      compress::unshuffle(into, element_bytes, part.data());
    }
  }
}

}  // namespace iocomp::formats::zarr
