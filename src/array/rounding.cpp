// SPDX-License-Identifier: BSD-3-Clause
#include "array/rounding.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "array/element_type.h"

namespace iocomp::array {
namespace {

constexpr int float32_mantissa = 23;
constexpr int float64_mantissa = 52;

std::uint32_t with_swapped_bytes(std::uint32_t bits) noexcept { return __builtin_bswap32(bits); }
std::uint64_t with_swapped_bytes(std::uint64_t bits) noexcept { return __builtin_bswap64(bits); }

// There are no branches, so that compilers take several numbers at once.
template <typename Bits, int mantissa>
class Rounding {
 public:
  Rounding(int keep_bits, std::span<const std::byte> fill, int parts)
      : dropped_{mantissa - keep_bits} {
    fill_.fill(exponent);  // an infinity: those stay as they are anyway
    if (!fill.empty()) {
      std::memcpy(fill_.data(), fill.data(), sizeof(Bits) * static_cast<std::size_t>(parts));
    }
    if (parts == 1) {
      fill_[1] = fill_[0];
    }
  }

  template <bool is_swapped>
  void round(std::span<std::byte> numbers) const noexcept {
    const std::size_t count = numbers.size() / sizeof(Bits);
    std::byte* const first = numbers.data();
    for (std::size_t i = 0; i < count; ++i) {
      Bits bits;
      std::memcpy(&bits, first + i * sizeof bits, sizeof bits);
      bits = is_swapped ? with_swapped_bytes(bits) : bits;
      bits = rounded(bits, fill_[i & 1U]);
      bits = is_swapped ? with_swapped_bytes(bits) : bits;
      std::memcpy(first + i * sizeof bits, &bits, sizeof bits);
    }
  }

 private:
  static constexpr Bits exponent = ((Bits{1} << (8 * sizeof(Bits) - 1 - mantissa)) - 1) << mantissa;

  [[nodiscard]] Bits rounded(Bits bits, Bits fill) const noexcept {
    const Bits last = Bits{1} << dropped_;
    const Bits to_even = (bits >> dropped_) & 1U;
    const Bits near = (bits + (last >> 1U) - 1 + to_even) & ~(last - 1);
    const bool stays = (bits & exponent) == exponent || (near & exponent) == exponent ||
                       bits == fill || near == fill;
    return stays ? bits : near;
  }

  int dropped_;                 // bits
  std::array<Bits, 2> fill_{};  // of even and odd numbers: the parts of complex ones
};

template <typename Bits, int mantissa>
void round_all(int keep_bits, std::span<std::byte> elements, std::span<const std::byte> fill,
               bool is_swapped, int parts) {
  const Rounding<Bits, mantissa> rounding{keep_bits, fill, parts};
  is_swapped ? rounding.template round<true>(elements) : rounding.template round<false>(elements);
}

}  // namespace

int mantissa_bits(ElementType type) noexcept {
  switch (part_of(type)) {
    case ElementType::float32:
      return float32_mantissa;
    case ElementType::float64:
      return float64_mantissa;
    default:
      return 0;
  }
}

void round_to_bits(ElementType type, int keep_bits, std::span<std::byte> elements,
                   std::span<const std::byte> fill, bool is_swapped) {
  const int parts = is_complex(type) ? 2 : 1;
  if (mantissa_bits(type) == float32_mantissa) {
    round_all<std::uint32_t, float32_mantissa>(keep_bits, elements, fill, is_swapped, parts);
  } else if (mantissa_bits(type) == float64_mantissa) {
    round_all<std::uint64_t, float64_mantissa>(keep_bits, elements, fill, is_swapped, parts);
  }
}

}  // namespace iocomp::array
