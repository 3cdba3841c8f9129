// SPDX-License-Identifier: BSD-3-Clause
#include "array/element_type.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace iocomp::array {
namespace {

struct Row {
  ElementType type;
  std::size_t bytes;
  std::string_view name;
};
// The rows are in the order of the values, which begin at 1.
constexpr std::array<Row, 14> rows{{
    {ElementType::int8, 1, "int8"},
    {ElementType::int16, 2, "int16"},
    {ElementType::int32, 4, "int32"},
    {ElementType::int64, 8, "int64"},
    {ElementType::uint8, 1, "uint8"},
    {ElementType::uint16, 2, "uint16"},
    {ElementType::uint32, 4, "uint32"},
    {ElementType::uint64, 8, "uint64"},
    {ElementType::float16, 2, "float16"},
    {ElementType::float32, 4, "float32"},
    {ElementType::float64, 8, "float64"},
    {ElementType::complex64, 8, "complex64"},
    {ElementType::complex128, 16, "complex128"},
    {ElementType::character, 1, "char"},
}};

const Row& row(ElementType type) noexcept { return rows.at(static_cast<std::size_t>(type) - 1); }

}  // namespace

std::size_t size_bytes(ElementType type) noexcept { return row(type).bytes; }

bool is_integer(ElementType type) noexcept {
  return type >= ElementType::int8 && type <= ElementType::uint64;
}

bool is_floating(ElementType type) noexcept {
  return type >= ElementType::float16 && type <= ElementType::float64;
}

bool is_complex(ElementType type) noexcept { return part_of(type) != type; }

ElementType part_of(ElementType type) noexcept {
  return type == ElementType::complex64    ? ElementType::float32
         : type == ElementType::complex128 ? ElementType::float64
                                           : type;
}

std::optional<ElementType> complex_of(ElementType part) noexcept {
  return part == ElementType::float32   ? std::optional{ElementType::complex64}
         : part == ElementType::float64 ? std::optional{ElementType::complex128}
                                        : std::nullopt;
}

std::size_t number_bytes(ElementType type) noexcept { return size_bytes(part_of(type)); }

std::string_view name(ElementType type) noexcept { return row(type).name; }

std::optional<ElementType> element_type(int value) noexcept {
  if (value < 1 || value > static_cast<int>(rows.size())) {
    return std::nullopt;
  }
  return rows.at(static_cast<std::size_t>(value) - 1).type;
}

std::optional<ElementType> element_type(std::string_view name) noexcept {
  for (const Row& row : rows) {
    if (row.name == name) {
      return row.type;
    }
  }
  return std::nullopt;
}

}  // namespace iocomp::array
