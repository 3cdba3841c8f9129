// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/little_endian.h"

namespace iocomp::formats::h5 {

// This file encodes the parts of an HDF5 file that iocomp writes itself: those that lead readers to
// its objects. Source: "HDF5 File Format Specification Version 3.0" (docs.hdfgroup.org), called
// "specification" below.

/// An address that leads nowhere.
inline constexpr std::int64_t undefined_address = -1;

/// Numbers, little-endian, one behind the other.
class Encoder {
 public:
  Encoder() { bytes_.reserve(64); }
  void put8(std::uint8_t value) { put(value, 1); }
  void put16(std::uint16_t value) { put(value, 2); }
  void put32(std::uint32_t value) { put(value, 4); }
  void put64(std::int64_t value) { put(static_cast<std::uint64_t>(value), 8); }
  void put_bytes(std::span<const std::byte> bytes);
  void put_text(std::string_view text) { put_bytes(std::as_bytes(std::span{text})); }
  /// Appends the checksum of all bytes put so far.
  void put_checksum();
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put(std::uint64_t value, int bytes);

  std::vector<std::byte> bytes_;
};

/// The checksum of metadata. Source: Bob Jenkins, lookup3.c, hashlittle; specification, appendix C.
[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> bytes);

/// The first bytes of a file, version 2, which HDF5 1.8 and later read (specification, II.A).
/// @param root_group  the address of its object header.
/// @param end         of all that belongs to the file.
[[nodiscard]] std::vector<std::byte> superblock(std::int64_t root_group, std::int64_t end);
inline constexpr std::int64_t superblock_bytes = 48;
/// The end that a superblock tells. @pre `superblock_bytes` of them
[[nodiscard]] std::int64_t end_in_superblock(std::span<const std::byte> superblock);

}  // namespace iocomp::formats::h5
