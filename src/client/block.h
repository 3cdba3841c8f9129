// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "array/box.h"
#include "array/conversion.h"
#include "array/cover.h"
#include "array/decomposition.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "array/region.h"
#include "base/crew.h"
#include "client/tickets.h"
#include "contents/variable.h"
#include "device/gpu_values.h"

namespace iocomp::client {

/// A block that a rank puts, with its place in the file and its values.
struct Block {
  contents::Variable variable;
  std::int64_t step = 0;
  array::Region region;
  array::MemoryBox memory;
  /// Instead of `memory`: another order of the values.
  std::shared_ptr<const array::Gather> gather;
  const std::byte* values = nullptr;       ///< first element of the local array
  Copy copy;                               ///< memory of the library that it lies in, or null
  std::shared_ptr<device::GpuValues> gpu;  ///< the values, if they lie on a GPU
  /// Converts from the type of `values` to that of the file; null if they are the same.
  std::shared_ptr<const array::Conversion> conversion;
  bool buffered = false;  ///< `values` is free when put returns
  std::uint64_t ticket = 0;
  array::Cover cover;
  Crew* crew = nullptr;  ///< the threads that copy; null: only the caller does

  [[nodiscard]] std::size_t element_bytes() const noexcept {
    return array::size_bytes(variable.type);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(array::elements(region)) * element_bytes();
  }
  /// The bytes of an element in memory.
  [[nodiscard]] std::size_t memory_element_bytes() const noexcept {
    return conversion ? array::size_bytes(conversion->from()) : element_bytes();
  }
  /// True if its values lie one behind the other, as the file keeps them.
  [[nodiscard]] bool is_dense() const noexcept {
    return !gather && !gpu && !conversion && array::is_contiguous(memory.shape, memory.box);
  }
  /// The bytes that it has, counted from `values`: the first, and the one behind the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> reach() const noexcept;
  /// First element of the block itself. @pre is_dense()
  [[nodiscard]] const std::byte* first_value() const noexcept;
  /// Copy elements `first` to `first + count` of its packed order from the local array, in the type
  /// of the file. If `swapped`, the bytes of every number are reversed.
  void copy_to(std::span<std::byte> packed, std::int64_t first, std::int64_t count,
               bool swapped) const;
  /// Copy the values unchanged, by the caller alone.
  void pack(std::int64_t first, std::int64_t count, std::byte* packed) const;
  /// The first element of its packed order that the file cannot keep, and the reason; nothing if it
  /// can keep all.
  struct Unfit {
    std::int64_t element = 0;
    std::string story;
  };
  [[nodiscard]] std::optional<Unfit> first_unfit() const;
  /// The checksum of its values, as the file keeps them.
  [[nodiscard]] std::uint64_t checksum() const;
  /// The place of an element of its packed order in the local array.
  [[nodiscard]] const std::byte* value(std::int64_t element) const noexcept;
  /// The distance of a copy of its elements from `first` on from a page border, if the copy is to
  /// lie as they do in the file. Most formats let variables begin at one. Then the copy can be
  /// written past the page cache.
  [[nodiscard]] std::size_t page_remainder(std::int64_t first) const;
  /// The whole block lies in packed order in this copy from now on.
  void lies_in(Copy packed) noexcept;

 private:
  /// Call `take(first element in the local array, elements)` for each run of its packed order.
  template <typename Take>
  void visit_runs(std::int64_t first, std::int64_t count, const Take& take) const;
  /// Call `take(bytes)` with the values of a run as they are in memory, part by part.
  template <typename Take>
  void visit_values(std::int64_t local, std::int64_t elements, const Take& take) const;
};

}  // namespace iocomp::client
