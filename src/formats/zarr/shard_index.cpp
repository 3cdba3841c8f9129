// SPDX-License-Identifier: BSD-3-Clause
#include "formats/zarr/shard_index.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/little_endian.h"
#include "formats/extent.h"
#include "formats/zarr/crc32c.h"

namespace iocomp::formats::zarr {
std::vector<std::byte> index_of(std::span<const Extent> chunks) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(index_bytes(std::ssize(chunks))));
  std::size_t at = 0;
  for (const Extent& chunk : chunks) {  // -1 is the number that says that there is none
    put_number_at(bytes, at, static_cast<std::uint64_t>(chunk.offset));
    put_number_at(bytes, at + sizeof(std::uint64_t), static_cast<std::uint64_t>(chunk.bytes));
    at += 2 * sizeof(std::uint64_t);
  }
  put_number_at(bytes, at, crc32c(std::span{bytes}.first(at)), sizeof(std::uint32_t));
  return bytes;
}

std::vector<Extent> chunks_from(std::span<const std::byte> index, std::int64_t file_bytes) {
  const auto numbers = index.first(index.size() - sizeof(std::uint32_t));
  if (number_at(index, numbers.size(), sizeof(std::uint32_t)) != crc32c(numbers)) {
    throw Error{ErrorCode::storage_failure, "the checksum of its index does not fit"};
  }
  std::vector<Extent> chunks;
  for (std::size_t at = 0; at < numbers.size(); at += 2 * sizeof(std::uint64_t)) {
    const Extent chunk{static_cast<std::int64_t>(number_at(numbers, at)),
                       static_cast<std::int64_t>(number_at(numbers, at + sizeof(std::uint64_t)))};
    const bool is_none = chunk.offset == no_chunk.offset && chunk.bytes == no_chunk.bytes;
    if (!is_none && (chunk.offset < 0 || chunk.bytes < 0 || chunk.offset > file_bytes ||
                     chunk.bytes > file_bytes - chunk.offset)) {
      throw Error{ErrorCode::storage_failure,
                  "chunk " + std::to_string(chunks.size()) + " lies behind its end"};
    }
    chunks.push_back(chunk);
  }
  return chunks;
}

}  // namespace iocomp::formats::zarr
