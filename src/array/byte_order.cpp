// SPDX-License-Identifier: BSD-3-Clause
#include "array/byte_order.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/error.h"
#include "base/stream_copy.h"

namespace iocomp::array {
namespace {

// Each reverses the numbers inside one word of eight bytes, whatever their size: so the loop is
// the same for all, and as fast as memory.
struct Pairs {
  static std::uint64_t swapped(std::uint64_t word) {
    constexpr std::uint64_t low = 0x00ff00ff00ff00ffU;
    return (word & low) << 8 | (word >> 8 & low);
  }
};
struct Quads {
  static std::uint64_t swapped(std::uint64_t word) {
    return std::rotl(__builtin_bswap64(word), 32);
  }
};
struct Octets {
  static std::uint64_t swapped(std::uint64_t word) { return __builtin_bswap64(word); }
};

struct Plainly {
  static void store(std::byte* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }
};
struct PastCaches {
  static void store(std::byte* to, std::uint64_t word) { stream_word(to, word); }
};

template <typename Numbers, typename Stores>
void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= from.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + at, sizeof word);
    Stores::store(to.data() + at, Numbers::swapped(word));
  }
  if (at < from.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + at, from.size() - at);
    word = Numbers::swapped(word);
    std::memcpy(to.data() + at, &word, from.size() - at);
  }
}

template <typename Stores>
void copy(std::span<const std::byte> from, std::span<std::byte> to, std::size_t number_bytes) {
  if (from.size() != to.size() || number_bytes == 0 || from.size() % number_bytes != 0) {
    throw Error{ErrorCode::internal, "cannot reverse " + std::to_string(from.size()) +
                                         " bytes in numbers of " + std::to_string(number_bytes)};
  }
  switch (number_bytes) {
    case 1:
      if (from.data() != to.data() && !from.empty()) {
        std::memcpy(to.data(), from.data(), from.size());
      }
      return;
    case 2:
      return copy<Pairs, Stores>(from, to);
    case 4:
      return copy<Quads, Stores>(from, to);
    case 8:
      return copy<Octets, Stores>(from, to);
    default:
      throw Error{ErrorCode::internal,
                  "cannot reverse numbers of " + std::to_string(number_bytes) + " bytes"};
  }
}

}  // namespace

void copy_swapped(std::span<const std::byte> from, std::span<std::byte> to,
                  std::size_t number_bytes) {
  copy<Plainly>(from, to, number_bytes);
}

void stream_swapped(std::span<const std::byte> from, std::span<std::byte> to,
                    std::size_t number_bytes) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(to.data()) % sizeof(std::uint64_t) == 0;
  if (is_aligned && from.size() >= least_streamed_bytes) {
    copy<PastCaches>(from, to, number_bytes);
  } else {
    copy<Plainly>(from, to, number_bytes);
  }
}

void swap_bytes(std::span<std::byte> numbers, std::size_t number_bytes) {
  copy_swapped(numbers, numbers, number_bytes);
}

}  // namespace iocomp::array
