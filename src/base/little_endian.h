// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace iocomp {

/// A number of `count` bytes, the lowest one first. @pre they are there.
[[nodiscard]] inline std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at,
                                             int count = 8) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[at + static_cast<std::size_t>(i)]) << (8 * i);
  }
  return value;
}
inline void put_number_at(std::span<std::byte> bytes, std::size_t at, std::uint64_t value,
                          int count = 8) {
  for (int i = 0; i < count; ++i) {
    bytes[at + static_cast<std::size_t>(i)] = static_cast<std::byte>(value >> (8 * i) & 0xffU);
  }
}

}  // namespace iocomp
