// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/encoding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/library_file.h"

namespace iocomp::formats::h5 {
namespace {

using HashWords = std::array<std::uint32_t, 3>;

void mix_words(HashWords& w) {
  auto& [a, b, c] = w;
  a -= c;
  a ^= std::rotl(c, 4);
  c += b;
  b -= a;
  b ^= std::rotl(a, 6);
  a += c;
  c -= b;
  c ^= std::rotl(b, 8);
  b += a;
  a -= c;
  a ^= std::rotl(c, 16);
  c += b;
  b -= a;
  b ^= std::rotl(a, 19);
  a += c;
  c -= b;
  c ^= std::rotl(b, 4);
  b += a;
}

void mix_last_words(HashWords& w) {
  auto& [a, b, c] = w;
  c ^= b;
  c -= std::rotl(b, 14);
  a ^= c;
  a -= std::rotl(c, 11);
  b ^= a;
  b -= std::rotl(a, 25);
  c ^= b;
  c -= std::rotl(b, 16);
  a ^= c;
  a -= std::rotl(c, 4);
  b ^= a;
  b -= std::rotl(a, 14);
  c ^= b;
  c -= std::rotl(b, 24);
}

// Twelve bytes, or what is left of them.
void add_words(HashWords& words, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    words.at(i / 4) += std::to_integer<std::uint32_t>(bytes[i]) << (8 * (i % 4));
  }
}

}  // namespace

std::uint32_t checksum(std::span<const std::byte> bytes) {
  constexpr std::size_t block = 12;
  const std::uint32_t begin = 0xdeadbeefU + static_cast<std::uint32_t>(bytes.size());
  HashWords words{begin, begin, begin};
  if (bytes.empty()) {
    return words[2];
  }
  while (bytes.size() > block) {
    add_words(words, bytes.first(block));
    mix_words(words);
    bytes = bytes.subspan(block);
  }
  add_words(words, bytes);
  mix_last_words(words);
  return words[2];
}

void Encoder::put(std::uint64_t value, int bytes) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + static_cast<std::size_t>(bytes));
  put_number_at(bytes_, at, value, bytes);
}

void Encoder::put_bytes(std::span<const std::byte> bytes) {
  const auto at = static_cast<std::ptrdiff_t>(bytes_.size());
  bytes_.resize(bytes_.size() + bytes.size());
  std::ranges::copy(bytes, bytes_.begin() + at);
}

void Encoder::put_checksum() { put32(checksum(bytes_)); }

std::vector<std::byte> superblock(std::int64_t root_group, std::int64_t end) {
  Encoder encoder;
  encoder.put_text(hdf5_signature);
  encoder.put8(2);  // version
  encoder.put8(8);  // bytes of an offset
  encoder.put8(8);  // bytes of a length
  encoder.put8(0);  // nobody has it open, as far as readers care
  encoder.put64(0);
  encoder.put64(undefined_address);  // of an extension
  encoder.put64(end);
  encoder.put64(root_group);
  encoder.put_checksum();
  return encoder.take();
}

std::int64_t end_in_superblock(std::span<const std::byte> superblock) {
  constexpr std::size_t end_at = 28;
  return static_cast<std::int64_t>(number_at(superblock, end_at, 8));
}

}  // namespace iocomp::formats::h5
