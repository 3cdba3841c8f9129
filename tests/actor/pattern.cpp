// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.h"

#include <iocomp/iocomp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pattern {
namespace {

// The finalizer of splitmix64 (Steele, Lea, Flood 2014): every bit of x changes half of the bits of
// the result.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Without the highest bit of the exponent a number is finite, so that nothing on its way may turn
// it into another NaN.
std::array<std::uint64_t, 2> finite_bits(iocomp_type type) {
  switch (type) {
    case IOCOMP_FLOAT16:
      return {~(1ULL << 14), ~0ULL};
    case IOCOMP_FLOAT32:
      return {~(1ULL << 30), ~0ULL};
    case IOCOMP_COMPLEX64:
      return {~(1ULL << 30 | 1ULL << 62), ~0ULL};
    case IOCOMP_FLOAT64:
    case IOCOMP_COMPLEX128:
      return {~(1ULL << 62), ~(1ULL << 62)};
    default:
      return {~0ULL, ~0ULL};
  }
}

}  // namespace

void fill(iocomp_type type, std::uint64_t seed, std::int64_t step, std::int64_t index,
          std::span<std::byte> bytes) {
  const std::uint64_t origin = mix(seed ^ static_cast<std::uint64_t>(step) << 32);
  const std::uint64_t first = mix(origin + static_cast<std::uint64_t>(index));
  const auto keep = finite_bits(type);
  const std::array<std::uint64_t, 2> words{first & keep[0], mix(first) & keep[1]};
  std::memcpy(bytes.data(), words.data(), bytes.size());  // little-endian machines
}

}  // namespace pattern
