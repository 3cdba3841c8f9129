// SPDX-License-Identifier: BSD-3-Clause
#include "formats/zarr/crc32c.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace iocomp::formats::zarr {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // of Castagnoli, its bits in reverse

using Table = std::array<std::uint32_t, 256>;

constexpr Table make_table() {
  Table table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest & 1U) != 0 ? (rest >> 1U) ^ polynomial : rest >> 1U;
    }
    table[byte] = rest;
  }
  return table;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
  static constexpr Table table = make_table();
  std::uint32_t rest = ~std::uint32_t{0};
  for (const auto byte : bytes) {
    rest = (rest >> 8U) ^ table[(rest ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
  }
  return ~rest;
}

}  // namespace iocomp::formats::zarr
