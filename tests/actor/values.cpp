// SPDX-License-Identifier: BSD-3-Clause
#include "values.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <stdexcept>

#include "pattern.h"

namespace actor {
namespace {

template <typename T>
void fill_sequence(std::byte* into, std::int64_t first, std::int64_t count, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index = first + i;
    T value{};
    if constexpr (sizeof(T) == 1) {
      value = static_cast<T>((index * 31 + step * 7) % 127);
    } else {
      value = static_cast<T>(index + step * 1000000);
    }
    std::memcpy(into + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

iocomp_type type_of(const std::string& name) {
  constexpr std::array names{"int8",    "int16",     "int32",      "int64",   "uint8",
                             "uint16",  "uint32",    "uint64",     "float16", "float32",
                             "float64", "complex64", "complex128", "char"};
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw std::runtime_error{"there is no type " + name};
  }
  return static_cast<iocomp_type>(found - names.begin() + 1);
}

void Values::fill(std::byte* into, std::int64_t first, std::int64_t count,
                  std::int64_t step) const {
  if (seed) {
    const std::size_t size = element_bytes();
    for (std::int64_t i = 0; i < count; ++i) {
      pattern::fill(type, *seed, step, first + i,
                    std::span{into + static_cast<std::size_t>(i) * size, size});
    }
    return;
  }
  switch (type) {
    case IOCOMP_INT8:
      return fill_sequence<std::int8_t>(into, first, count, step);
    case IOCOMP_INT32:
      return fill_sequence<std::int32_t>(into, first, count, step);
    case IOCOMP_INT64:
      return fill_sequence<std::int64_t>(into, first, count, step);
    case IOCOMP_FLOAT64:
      return fill_sequence<double>(into, first, count, step);
    default:
      throw std::runtime_error{"values of this type need a seed"};
  }
}

}  // namespace actor
