// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace actor {

/// The type of that name: int8 to uint64, float16 to float64, complex64, complex128, char.
/// @throws std::runtime_error.
[[nodiscard]] iocomp_type type_of(const std::string& name);

/// The values that a script puts into a variable: every element tells its step and its global
/// index.
struct Values {
  iocomp_type type = IOCOMP_INT64;
  /// With a seed the elements tell the variable too, in every bit (pattern.h). Without one they are
  /// numbers that a person can read: index + step * 1000000, or in 8 bits
  /// (index * 31 + step * 7) % 127. tests/system/files.py computes these.
  std::optional<std::uint64_t> seed;

  /// True if the type can do without a seed.
  [[nodiscard]] bool is_sequence() const {
    return type == IOCOMP_INT8 || type == IOCOMP_INT32 || type == IOCOMP_INT64 ||
           type == IOCOMP_FLOAT64;
  }
  [[nodiscard]] std::size_t element_bytes() const { return iocomp_type_size(type); }
  /// Write `count` elements from global index `first` on.
  /// @throws std::runtime_error for a type that needs a seed.
  void fill(std::byte* into, std::int64_t first, std::int64_t count, std::int64_t step) const;
};

}  // namespace actor
