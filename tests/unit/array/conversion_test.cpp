// SPDX-License-Identifier: BSD-3-Clause
#include "array/conversion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "array/float16.h"

namespace iocomp::array {
namespace {

using Type = ElementType;
constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span{values});
}

template <typename To, typename From>
std::vector<To> converted(Type from, Type to, const std::vector<From>& values,
                          const std::optional<Packing>& packing = {}) {
  const Conversion conversion{from, to, packing};
  std::vector<To> made(values.size());
  EXPECT_EQ(conversion.first_unfit(bytes(values)), std::nullopt);
  conversion.convert(bytes(values), reinterpret_cast<std::byte*>(made.data()));
  return made;
}

template <typename From>
bool fits(Type from, Type to, From value, const std::optional<Packing>& packing = {}) {
  return !Conversion{from, to, packing}.first_unfit(bytes(std::vector<From>{value}));
}

TEST(Conversion, RoundsFloatingPointNumbersToNearest) {
  const auto made = converted<float>(Type::float64, Type::float32,
                                     std::vector{0.1, -1e-300, 16777217.0, 16777219.0, infinity});
  EXPECT_EQ(made, (std::vector{0.1F, -0.0F, 16777216.0F, 16777220.0F,
                               std::numeric_limits<float>::infinity()}));
  EXPECT_TRUE(std::signbit(made[1]));
  EXPECT_TRUE(std::isnan(
      converted<float>(Type::float64, Type::float32, std::vector{std::nan("")}).front()));
}

TEST(Conversion, KeepsWhatFitsExactly) {
  EXPECT_EQ(converted<double>(Type::float32, Type::float64, std::vector{0.5F, -3e38F}),
            (std::vector{0.5, static_cast<double>(-3e38F)}));
  EXPECT_EQ(converted<std::int16_t>(Type::float64, Type::int16, std::vector{-32768.0, 32767.0}),
            (std::vector<std::int16_t>{-32768, 32767}));
  EXPECT_EQ(converted<std::uint64_t>(Type::int64, Type::uint64, std::vector{std::int64_t{5}}),
            (std::vector{std::uint64_t{5}}));
  EXPECT_EQ(converted<double>(Type::uint8, Type::float64, std::vector<std::uint8_t>{255}),
            std::vector{255.0});
}

TEST(Conversion, FindsWhatTheOtherTypeCannotHold) {
  // 3.4028235677973366e38 is halfway between the largest float and 2^128.
  EXPECT_TRUE(fits(Type::float64, Type::float32, 3.4028235677973360e38));
  EXPECT_FALSE(fits(Type::float64, Type::float32, 3.4028235677973366e38));
  EXPECT_FALSE(fits(Type::float64, Type::float32, -1e300));
  EXPECT_TRUE(fits(Type::float64, Type::float16, 65519.0));
  EXPECT_FALSE(fits(Type::float64, Type::float16, 65520.0));
  EXPECT_FALSE(fits(Type::int32, Type::float16, std::int32_t{70000}));
  EXPECT_FALSE(fits(Type::float64, Type::int64, 9223372036854775808.0));
  EXPECT_TRUE(fits(Type::float64, Type::int64, -9223372036854775808.0));
  EXPECT_FALSE(fits(Type::float64, Type::uint8, -1.0));
  EXPECT_FALSE(fits(Type::float64, Type::int32, 1.5));
  EXPECT_FALSE(fits(Type::float64, Type::int32, std::nan("")));
  EXPECT_FALSE(fits(Type::float64, Type::int32, infinity));
  EXPECT_FALSE(fits(Type::int64, Type::uint64, std::int64_t{-1}));
  EXPECT_FALSE(fits(Type::uint64, Type::int64, std::uint64_t{1} << 63));
  EXPECT_FALSE(fits(Type::int32, Type::int8, std::int32_t{128}));
}

TEST(Conversion, NamesTheFirstUnfitElement) {
  std::vector<double> values(10000, 1.0);
  values[9000] = 1e39;
  values[9500] = 1e40;
  const Conversion conversion{Type::float64, Type::float32};
  EXPECT_EQ(conversion.first_unfit(bytes(values)), 9000);
  EXPECT_EQ(conversion.story(bytes(values).data() + 9000 * sizeof(double)),
            "1e+39, which float32 cannot hold");
  const std::vector<std::complex<double>> pairs{{1, 2}, {3, 1e39}};
  const Conversion complex{Type::complex128, Type::complex64};
  EXPECT_EQ(complex.first_unfit(bytes(pairs)), 1);
  EXPECT_EQ(complex.story(bytes(pairs).data() + 16), "3 and 1e+39, which complex64 cannot hold");
  const std::vector<std::uint64_t> large{std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ((Conversion{Type::uint64, Type::int8}.story(bytes(large).data())),
            "18446744073709551615, which int8 cannot hold");
}

TEST(Conversion, FindsAnUnfitElementAnywhere) {
  const Conversion conversion{Type::float64, Type::float32};
  for (const std::size_t count : {1U, 7U, 31U, 32U, 33U, 255U, 65535U, 65536U, 65599U}) {
    std::vector<double> values(count, -1.0);
    EXPECT_EQ(conversion.first_unfit(bytes(values)), std::nullopt) << count;
    for (std::size_t i = 0; i < count; i += count < 256 ? 1 : 509) {
      values[i] = 1e39;
      EXPECT_EQ(conversion.first_unfit(bytes(values)), static_cast<std::int64_t>(i)) << count;
      values[i] = i % 2 == 0 ? infinity : std::nan("");  // these become what they are
    }
    EXPECT_EQ(conversion.first_unfit(bytes(values)), std::nullopt) << count;
  }
}

TEST(Conversion, TakesTheNearestHalf) {
  // 2049 lies between 2048 and 2050, 2051 between 2050 and 2052: the even fraction is taken.
  const auto made = converted<std::uint16_t>(Type::float64, Type::float16,
                                             std::vector{1.0, 2049.0, 2051.0, 6e-8, -infinity});
  EXPECT_EQ(from_float16(made[0]), 1.0);
  EXPECT_EQ(from_float16(made[1]), 2048.0);
  EXPECT_EQ(from_float16(made[2]), 2052.0);
  EXPECT_EQ(from_float16(made[3]), std::ldexp(1.0, -24));
  EXPECT_EQ(from_float16(made[4]), -infinity);
}

TEST(Conversion, PacksAsTheCfConventionsHaveIt) {
  const Packing packing{.scale = 0.01, .offset = 273.15, .fill = -32768};
  const auto stored = converted<std::int16_t>(
      Type::float64, Type::int16, std::vector{273.15, 300.004, 300.006, std::nan("")}, packing);
  EXPECT_EQ(stored, (std::vector<std::int16_t>{0, 2685, 2686, -32768}));
  const auto back = converted<double>(Type::int16, Type::float64, stored, packing);
  EXPECT_DOUBLE_EQ(back[1], 2685 * 0.01 + 273.15);
  EXPECT_TRUE(std::isnan(back[3]));
  // Integers are numbers, too, also those of the type that is stored.
  EXPECT_EQ(converted<std::int16_t>(Type::int32, Type::int16, std::vector{280}, packing),
            std::vector<std::int16_t>{685});
  EXPECT_EQ(
      converted<std::int16_t>(Type::int16, Type::int16, std::vector<std::int16_t>{280}, packing),
      std::vector<std::int16_t>{685});
}

TEST(Conversion, RefusesWhatCannotBePacked) {
  const Packing packing{.scale = 0.01, .offset = 0, .fill = -32768};
  EXPECT_FALSE(fits(Type::float64, Type::int16, 327.68, packing));
  EXPECT_FALSE(fits(Type::float64, Type::int16, -327.68, packing));  // it would be the fill value
  EXPECT_FALSE(fits(Type::float64, Type::int16, infinity, packing));
  EXPECT_FALSE(fits(Type::float64, Type::int16, std::nan(""), Packing{}));
  EXPECT_TRUE(fits(Type::float64, Type::int16, std::nan(""), packing));
  EXPECT_FALSE(fits(Type::int32, Type::int16, std::int32_t{328}, packing));
  EXPECT_TRUE(fits(Type::int32, Type::int16, std::int32_t{327}, packing));
}

TEST(Conversion, IsAmongRealOrAmongComplexNumbers) {
  EXPECT_TRUE(Conversion::exists(Type::int8, Type::float16));
  EXPECT_TRUE(Conversion::exists(Type::complex128, Type::complex64));
  EXPECT_FALSE(Conversion::exists(Type::complex128, Type::float64));
  EXPECT_FALSE(Conversion::exists(Type::character, Type::uint8));
}

}  // namespace
}  // namespace iocomp::array
