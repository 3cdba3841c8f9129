// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "array/box.h"
#include "array/region.h"

namespace iocomp::array {

/// The elements that some puts cover, each as often as it is put. It is a sum that is cheap to
/// make, to add and to send, and equal for equal coverage only (but for an accident of about the
/// number of elements in 2^61). It is the value of the polynomial whose exponents are the elements'
/// indices, at a fixed random point, modulo the prime 2^61 - 1.
struct Cover {
  std::uint64_t elements = 0;
  std::uint64_t print = 0;  ///< < 2^61

  friend bool operator==(const Cover&, const Cover&) = default;
  friend auto operator<=>(const Cover&, const Cover&) = default;
};
void add(Cover& sum, const Cover& more) noexcept;

/// O(dimensions), or O(runs); times the logarithm of the number of elements.
[[nodiscard]] Cover cover_of(const Shape& shape, const Region& region) noexcept;
/// Every element once.
[[nodiscard]] Cover cover_of_all(const Shape& shape) noexcept;

}  // namespace iocomp::array
