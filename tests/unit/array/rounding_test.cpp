// SPDX-License-Identifier: BSD-3-Clause
#include "array/rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "array/byte_order.h"
#include "array/element_type.h"

namespace iocomp::array {
namespace {

template <typename Value>
ElementType type_of() {
  return sizeof(Value) == 4 ? ElementType::float32 : ElementType::float64;
}

template <typename Value>
Value rounded(Value value, int keep_bits, const Value* fill = nullptr) {
  round_to_bits(type_of<Value>(), keep_bits, std::as_writable_bytes(std::span{&value, 1}),
                fill == nullptr ? std::span<const std::byte>{} : std::as_bytes(std::span{fill, 1}));
  return value;
}

// Ties by hand; the others as numpy gives them with the formula of xbitinfo.
TEST(Rounding, HasKnownAnswers) {
  EXPECT_EQ(rounded(1.F + 0x1p-8F, 7), 1.F);                       // a tie, down to the even one
  EXPECT_EQ(rounded(1.F + 0x1p-7F + 0x1p-8F, 7), 1.F + 0x1p-6F);   // a tie, up to it
  EXPECT_EQ(rounded(1.F + 0x1p-8F + 0x1p-23F, 7), 1.F + 0x1p-7F);  // just above a tie
  EXPECT_EQ(rounded(1.F + 0x1p-8F - 0x1p-23F, 7), 1.F);            // just below
  EXPECT_EQ(rounded(-(2.F - 0x1p-23F), 7), -2.F);                  // into the exponent
  EXPECT_EQ(rounded(1. + 0x1p-52, 51), 1.);
  EXPECT_EQ(rounded(1. + 3 * 0x1p-52, 51), 1. + 0x1p-50);
  EXPECT_EQ(rounded(3.14159265F, 7), 3.140625F);
  EXPECT_EQ(rounded(2.7182817F, 5), 2.6875F);
  EXPECT_EQ(rounded(3.141592653589793, 10), 3.140625);
  EXPECT_EQ(rounded(1. / 3, 12), 0.33331298828125);
  EXPECT_EQ(rounded(0.1, 4), 0.1015625);
}

TEST(Rounding, KeepsWhatIsNoNumberZerosAndTheLargest) {
  using Limits = std::numeric_limits<float>;
  for (const float value : {0.F, -0.F, Limits::infinity(), -Limits::infinity(), Limits::max(),
                            Limits::lowest(), 1.F, -0.5F, 1024.F}) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(rounded(value, 3)), std::bit_cast<std::uint32_t>(value));
  }
  for (const std::uint32_t nan : {0x7FC00000U, 0x7F800001U, 0xFFFFFFFFU, 0x7FFFFFFFU}) {
    auto bits = nan;
    round_to_bits(ElementType::float32, 3, std::as_writable_bytes(std::span{&bits, 1}));
    EXPECT_EQ(bits, nan);
  }
  EXPECT_EQ(rounded(std::numeric_limits<double>::max(), 20), std::numeric_limits<double>::max());
}

TEST(Rounding, KeepsTheFillValueAndMakesNoOther) {
  const float odd = -9999.F;
  EXPECT_EQ(rounded(odd, 3, &odd), odd);
  EXPECT_NE(rounded(odd, 3), odd);
  const float even = 1024.F;
  EXPECT_EQ(rounded(1025.F, 3), even);
  EXPECT_EQ(rounded(1025.F, 3, &even), 1025.F);
  EXPECT_EQ(rounded(1025.F, 3, &odd), even);
}

// The formula in Python (xbitinfo, numcodecs' BitRound): add half of the last bit that stays,
// less one, and that bit; drop the rest.
template <typename Bits, typename Value>
void compare_with_the_formula(int mantissa) {
  std::mt19937_64 random{7};
  for (int keep = 1; keep < mantissa; ++keep) {
    for (int i = 0; i < 200; ++i) {
      auto bits = static_cast<Bits>(random());
      const auto value = std::bit_cast<Value>(bits);
      if (!std::isfinite(value)) {
        continue;
      }
      const int dropped = mantissa - keep;
      Bits expected = bits + ((bits >> dropped) & 1U) + ((Bits{1} << (dropped - 1)) - 1);
      expected = (expected >> dropped) << dropped;
      if (!std::isfinite(std::bit_cast<Value>(expected))) {
        expected = bits;
      }
      const Value found = rounded(value, keep);
      ASSERT_EQ(std::bit_cast<Bits>(found), expected) << value << " to " << keep;
      EXPECT_EQ(std::bit_cast<Bits>(rounded(found, keep)), expected);
      if (std::isnormal(value)) {
        EXPECT_LE(std::abs(found - value), std::ldexp(std::abs(value), -(keep + 1)));
      }
    }
  }
}

TEST(Rounding, IsToNearestForAnyNumberAndTwiceIsOnce) {
  compare_with_the_formula<std::uint32_t, float>(23);
  compare_with_the_formula<std::uint64_t, double>(52);
}

TEST(Rounding, IsTheSameForNumbersInTheOtherByteOrder) {
  std::mt19937_64 random{11};
  for (const auto type : {ElementType::float32, ElementType::float64, ElementType::complex64,
                          ElementType::complex128}) {
    const std::size_t number = mantissa_bits(type) == 23 ? 4 : 8;
    std::vector<std::byte> values(16 * 37);
    std::ranges::generate(values, [&] { return static_cast<std::byte>(random()); });
    const std::vector<std::byte> fill(values.begin(), values.begin() + 16);
    const auto of_fill = std::span{fill}.first(size_bytes(type));
    auto swapped = values;
    swap_bytes(swapped, number);
    round_to_bits(type, 9, values, of_fill);
    round_to_bits(type, 9, swapped, of_fill, true);
    swap_bytes(swapped, number);
    EXPECT_EQ(values, swapped);
    EXPECT_TRUE(std::equal(of_fill.begin(), of_fill.end(), values.begin()));
  }
}

TEST(Rounding, RoundsBothPartsOfComplexNumbers) {
  std::complex<float> value{1.F + 0x1p-20F, -9999.F};
  const std::complex<float> fill{0.F, -9999.F};
  round_to_bits(ElementType::complex64, 7, std::as_writable_bytes(std::span{&value, 1}),
                std::as_bytes(std::span{&fill, 1}));
  EXPECT_EQ(value, (std::complex<float>{1.F, -9999.F}));
}

TEST(Rounding, IsOfFloatingPointNumbers) {
  EXPECT_EQ(mantissa_bits(ElementType::float32), 23);
  EXPECT_EQ(mantissa_bits(ElementType::complex128), 52);
  EXPECT_EQ(mantissa_bits(ElementType::float16), 0);
  EXPECT_EQ(mantissa_bits(ElementType::int32), 0);
}

}  // namespace
}  // namespace iocomp::array
