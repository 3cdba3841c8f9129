// SPDX-License-Identifier: BSD-3-Clause
#include "contents/variable.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/conversion.h"
#include "array/element_type.h"

namespace iocomp::contents {
namespace {

using array::ElementType;

template <typename T>
Attribute numbers(ElementType type, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span{values});
  return {type, false, {bytes.begin(), bytes.end()}};
}

array::Packing packing_of(ElementType stored, std::map<std::string, Attribute> all) {
  all.emplace("scale_factor", numbers<double>(ElementType::float64, {0.5}));
  const auto found = packing(stored, [&](const char* name) {
    const auto attribute = all.find(name);
    return attribute == all.end() ? nullptr : &attribute->second;
  });
  return found.value_or(array::Packing{});
}

// JSON and h5py have another type of integers than the variable.
TEST(Packing, MissingValuesCountWhateverTypeTellsThem) {
  using Values = std::vector<std::int64_t>;
  const auto missing = [](ElementType stored, const Attribute& told) {
    auto found = packing_of(stored, {{"_FillValue", numbers<std::int8_t>(ElementType::int8, {1})},
                                     {"missing_value", told}});
    EXPECT_EQ(found.fill, 1);
    return found.missing;
  };
  EXPECT_EQ(missing(ElementType::int16, numbers<std::int64_t>(ElementType::int64, {-999, 7})),
            (Values{-999, 7}));
  EXPECT_EQ(missing(ElementType::int16, numbers<double>(ElementType::float64, {-999, 0.5})),
            (Values{-999}));
  EXPECT_EQ(missing(ElementType::int16, numbers<std::int64_t>(ElementType::int64, {40000, -32768})),
            (Values{-32768}));
  EXPECT_EQ(missing(ElementType::uint16, numbers<std::int64_t>(ElementType::int64, {40000, 65536})),
            (Values{40000}));
  EXPECT_EQ(missing(ElementType::uint16, numbers<std::int32_t>(ElementType::int32, {-1})),
            (Values{65535}));
  EXPECT_EQ(missing(ElementType::int64, numbers<std::int16_t>(ElementType::int16, {-999})),
            (Values{-999}));
  EXPECT_EQ(missing(ElementType::int16, contents::text_attribute("-999")), Values{});
}

TEST(StoredText, EndsAtItsZero) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(stored_text_attribute("true\0"sv), contents::text_attribute("true"));
  EXPECT_EQ(stored_text_attribute("\0x"sv), contents::text_attribute(""));
  EXPECT_EQ(stored_text_attribute("true"), contents::text_attribute("true"));
}

}  // namespace
}  // namespace iocomp::contents
