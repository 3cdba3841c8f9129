// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "array/box.h"
#include "array/element_type.h"
#include "array/memory_box.h"

namespace iocomp::array {

/// The hash of elements: XXH3 with 64 bits, of the elements in row-major order, each number with
/// its least significant byte first. So it depends on the values alone, not on the machine nor on
/// how a file has them: in parts, swapped or compressed.
class Checksum {
 public:
  /// @param order  of the bytes of a number, in the memory that is added.
  explicit Checksum(ElementType type, std::endian order = std::endian::native);
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  /// More elements. @pre whole ones.
  void add(std::span<const std::byte> elements);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::size_t swapped_bytes_;  // of each number; 0: none is swapped
};

/// The checksum of a block in a local array, read at the speed of memory if its rows are long.
/// @param local  the first element of the array.
[[nodiscard]] std::uint64_t checksum(ElementType type, const MemoryBox& memory,
                                     const std::byte* local);

/// The checksum as 16 digits.
[[nodiscard]] std::string hex(std::uint64_t checksum);
/// @return nothing if it is no such text.
[[nodiscard]] std::optional<std::uint64_t> checksum_from(std::string_view hex) noexcept;

}  // namespace iocomp::array
