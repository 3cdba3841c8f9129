// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace iocomp::array {

/// The element types of the C interface; the values are those of `iocomp_type`.
enum class ElementType : std::uint8_t {
  int8 = 1,
  int16 = 2,
  int32 = 3,
  int64 = 4,
  uint8 = 5,
  uint16 = 6,
  uint32 = 7,
  uint64 = 8,
  float16 = 9,
  float32 = 10,
  float64 = 11,
  complex64 = 12,
  complex128 = 13,
  character = 14,
};

/// Bytes of one element.
[[nodiscard]] std::size_t size_bytes(ElementType type) noexcept;
[[nodiscard]] bool is_integer(ElementType type) noexcept;
/// True for real floating-point numbers.
[[nodiscard]] bool is_floating(ElementType type) noexcept;
[[nodiscard]] bool is_complex(ElementType type) noexcept;
/// The type of the numbers that an element is made of: those of complex64 are float32.
[[nodiscard]] ElementType part_of(ElementType type) noexcept;
/// The other way round; nothing if there are no complex numbers of such parts.
[[nodiscard]] std::optional<ElementType> complex_of(ElementType part) noexcept;
/// Bytes of one of the numbers that an element is made of.
[[nodiscard]] std::size_t number_bytes(ElementType type) noexcept;
/// The name used in manifests: "int8", ..., "float64", "complex64" (2 x float32), "complex128",
/// "char" (a byte of text).
[[nodiscard]] std::string_view name(ElementType type) noexcept;
/// The type with that value in the C interface, or nothing.
[[nodiscard]] std::optional<ElementType> element_type(int value) noexcept;
/// The type of that name, or nothing.
[[nodiscard]] std::optional<ElementType> element_type(std::string_view name) noexcept;

}  // namespace iocomp::array
