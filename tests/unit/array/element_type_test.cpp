// SPDX-License-Identifier: BSD-3-Clause
#include "array/element_type.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string_view>

namespace iocomp::array {
namespace {

TEST(ElementType, IsKnownForTheValuesOfTheCInterface) {
  for (int value = 1; value <= 14; ++value) {
    const auto type = element_type(value);
    ASSERT_TRUE(type.has_value());
    EXPECT_EQ(static_cast<int>(*type), value);
  }
  EXPECT_EQ(element_type(0), std::nullopt);
  EXPECT_EQ(element_type(15), std::nullopt);
  EXPECT_EQ(element_type(-1), std::nullopt);
  EXPECT_EQ(element_type(257), std::nullopt);
}

TEST(ElementType, HasTheSizeThatItsNameTells) {
  EXPECT_EQ(size_bytes(ElementType::int8), 1U);
  EXPECT_EQ(size_bytes(ElementType::uint16), 2U);
  EXPECT_EQ(size_bytes(ElementType::float16), 2U);
  EXPECT_EQ(size_bytes(ElementType::float32), 4U);
  EXPECT_EQ(size_bytes(ElementType::uint64), 8U);
  EXPECT_EQ(size_bytes(ElementType::complex64), 8U);
  EXPECT_EQ(size_bytes(ElementType::complex128), 16U);
  EXPECT_EQ(size_bytes(ElementType::character), 1U);
}

TEST(ElementType, IsMadeOfNumbers) {
  EXPECT_EQ(part_of(ElementType::complex64), ElementType::float32);
  EXPECT_EQ(part_of(ElementType::int16), ElementType::int16);
  EXPECT_EQ(number_bytes(ElementType::complex128), 8U);
  for (int value = 1; const auto type = element_type(value); ++value) {
    EXPECT_EQ(is_complex(*type), complex_of(part_of(*type)) == *type) << name(*type);
  }
}

TEST(ElementType, HasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int value = 1; value <= 14; ++value) {
    names.insert(name(*element_type(value)));
  }
  EXPECT_EQ(names.size(), 14U);
  EXPECT_EQ(name(ElementType::int32), "int32");
  EXPECT_EQ(name(ElementType::complex128), "complex128");
  EXPECT_EQ(name(ElementType::character), "char");
}

}  // namespace
}  // namespace iocomp::array
