// SPDX-License-Identifier: BSD-3-Clause
#include "contents/catalogue.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "formats/rules.h"

namespace iocomp::contents {
namespace {

using array::ElementType;

Event attribute(std::int64_t step, const std::string& name, std::byte value) {
  Event event;
  event.what = Event::What::attribute;
  event.step = step;
  event.name = name;
  event.attribute.values = {value};
  return event;
}

TEST(Catalogue, TellsAttributesAsTheyWereInAStep) {
  Catalogue catalogue{formats::rules::posix, 1, false};
  catalogue.apply(attribute(0, "title", std::byte{7}));
  catalogue.apply(attribute(1, "time", std::byte{1}));
  catalogue.apply(attribute(3, "time", std::byte{3}));
  catalogue.apply(attribute(3, "time", std::byte{4}));
  EXPECT_FALSE(catalogue.attributes(0).contains("time"));
  EXPECT_EQ(catalogue.attributes(2).at("time").values, std::vector{std::byte{1}});
  EXPECT_EQ(catalogue.attributes(3).at("time").values, std::vector{std::byte{4}});
  EXPECT_EQ(catalogue.attributes(3).at("title").values, std::vector{std::byte{7}});
}

Event float_definition(const std::string& name, int dimensions) {
  Event event;
  event.what = Event::What::define;
  event.name = name;
  event.shape = {.dimensions = dimensions, .extent = {4, 5}};
  return event;
}

Event time_of_step(std::int64_t step, double time) {
  Event event;
  event.what = Event::What::begin_step;
  event.step = event.number = step;
  event.time = time;
  return event;
}

template <typename Number>
std::vector<std::byte> bytes_of(Number number) {
  const auto bytes = std::as_bytes(std::span{&number, 1});
  return {bytes.begin(), bytes.end()};
}

TEST(Catalogue, KnowsTheTimeThatNobodyPuts) {
  Catalogue catalogue{formats::rules::posix, 1, true};
  catalogue.apply(float_definition("u", 2));
  catalogue.apply(time_of_step(0, 0.25));
  EXPECT_FALSE(catalogue.known_time(0)) << "there is no such variable";
  Event time = float_definition("time", 0);
  time.step = 1;
  catalogue.apply(time);
  EXPECT_FALSE(catalogue.known_time(0)) << "it comes later";
  EXPECT_FALSE(catalogue.known_time(1)) << "the program has not said it";
  catalogue.apply(time_of_step(1, 0.0));
  EXPECT_EQ(catalogue.known_time(1), 1);
  EXPECT_EQ(catalogue.fill(1, 1), bytes_of(0.0)) << "libraries write whole steps";
  catalogue.apply(time_of_step(2, -1e300));
  EXPECT_EQ(catalogue.fill(1, 2), bytes_of(-1e300));
  EXPECT_TRUE(catalogue.fill(1, 3).empty());
}

TEST(Catalogue, KnowsATimeOfEachTypeThatCanHoldIt) {
  struct Case {
    ElementType type;
    double time;
    std::vector<std::byte> element;  // none: it cannot
  };
  constexpr double beyond = 9223372036854775808.0;  // 2^63
  const std::vector<Case> cases{
      {ElementType::float32, 0.1, bytes_of(0.1F)},
      {ElementType::int32, -7, bytes_of(std::int32_t{-7})},
      {ElementType::int32, 0.5, {}},
      {ElementType::int8, 127, bytes_of(std::int8_t{127})},
      {ElementType::int8, 128, {}},
      {ElementType::uint16, -1, {}},
      {ElementType::int64, -beyond, bytes_of(std::numeric_limits<std::int64_t>::min())},
      {ElementType::int64, beyond, {}},
      {ElementType::uint64, beyond, bytes_of(std::uint64_t{1} << 63)},
      {ElementType::complex64, 1, {}},
      {ElementType::character, 1, {}},
  };
  for (const auto& [type, time, element] : cases) {
    Catalogue catalogue{formats::rules::posix, 1, true};
    Event define = float_definition("time", 0);
    define.type = type;
    catalogue.apply(define);
    catalogue.apply(time_of_step(0, time));
    EXPECT_EQ(catalogue.known_time(0).has_value(), !element.empty()) << array::name(type) << time;
    EXPECT_EQ(catalogue.fill(0, 0), element) << array::name(type) << ' ' << time;
  }
}

TEST(Catalogue, TakesAnArrayCalledTimeForNoTime) {
  Catalogue catalogue{formats::rules::posix, 1, true};
  catalogue.apply(float_definition("time", 1));
  catalogue.apply(time_of_step(0, 3));
  EXPECT_FALSE(catalogue.known_time(0));
}

Event text_attribute(int variable, const std::string& name, const std::string& value) {
  Event event;
  event.what = Event::What::attribute;
  event.variable = variable;
  event.name = name;
  event.attribute.is_text = true;
  const auto bytes = std::as_bytes(std::span{value});
  event.attribute.values = {bytes.begin(), bytes.end()};
  return event;
}

TEST(Catalogue, TellsWhatIsKeptOfValuesButOfCoordinatesOnlyWhereTheyAreNamed) {
  Catalogue catalogue{formats::rules::posix, 1, false, [](const Variable& variable) {
                        return Kept{.bits = 7, .of_all_kinds = variable.name == "named"};
                      }};
  catalogue.apply(float_definition("u", 2));
  catalogue.apply(float_definition("x", 1));
  catalogue.apply(text_attribute(1, "dimensions", "x"));
  catalogue.apply(float_definition("scalar", 0));
  catalogue.apply(float_definition("named", 0));
  const std::vector<int> kept{7, 0, 0, 7};
  for (int id = 0; id < 4; ++id) {
    const auto expected = kept[static_cast<std::size_t>(id)];
    EXPECT_EQ(catalogue.variable(id, 0).kept_bits, expected);
    const auto attributes = catalogue.variable_attributes(0)[static_cast<std::size_t>(id)];
    const auto told = attributes.find("_QuantizeBitRoundNumberOfSignificantBits");
    ASSERT_EQ(told != attributes.end(), expected > 0);
    if (expected > 0) {
      EXPECT_EQ(told->second.type, array::ElementType::int32);
      EXPECT_EQ(told->second.values, (std::vector{std::byte{7}, {}, {}, {}}));
    }
  }
}

TEST(Catalogue, RefusesASecondStepWhereAFileHasOne) {
  const Rules rules = formats::rules::hdf5_flat;
  Catalogue catalogue{rules, 1, true};
  Event event;
  event.what = Event::What::define;
  event.name = "u";
  catalogue.apply(event);
  EXPECT_NO_THROW(catalogue.check_step(0));
  EXPECT_THROW(catalogue.check_step(1), Error);
  event.name = "v";
  event.step = 1;
  EXPECT_THROW(catalogue.apply(event), Error);
  EXPECT_NO_THROW(catalogue.apply(attribute(1, "end", std::byte{1})));
  Catalogue each_step_in_a_file{rules, 1, false};
  EXPECT_NO_THROW(each_step_in_a_file.check_step(7));
}

TEST(Catalogue, GivesTheTimeItsAxisInFilesOfOneStep) {
  const auto time_in = [](bool one_file, const char* dimensions) {
    Catalogue catalogue{formats::rules::netcdf, 1, one_file};
    catalogue.apply(float_definition("time", 0));
    catalogue.apply(float_definition("u", 2));
    Event named = text_attribute(1, dimensions_attribute, dimensions);
    named.step = one_file ? 0 : 1;
    catalogue.apply(named);
    EXPECT_EQ(catalogue.variable(0, 0).dimensions, std::nullopt) << "it comes later";
    return catalogue.variable(0, 1).dimensions;
  };
  EXPECT_EQ(time_in(false, "time y x"), "time");
  EXPECT_EQ(time_in(false, "y x"), std::nullopt);
  EXPECT_EQ(time_in(true, "time y x"), std::nullopt) << "it has it anyway";
}

TEST(Catalogue, RefusesNamesThatNoReaderCouldAskFor) {
  Catalogue catalogue{formats::rules::posix, 1, false};
  Event event;
  event.what = Event::What::define;
  event.shape = {.dimensions = 1, .extent = {4}};
  event.name = "gr\xfc\xdf";
  EXPECT_THROW(catalogue.apply(event), Error);
  EXPECT_THROW(catalogue.apply(attribute(0, "\xff", std::byte{1})), Error);
  event.name = "gr\u00fc\u00df";
  EXPECT_NO_THROW(catalogue.apply(event));
}

Event definition() {
  Event event;
  event.what = Event::What::define;
  event.name = "u";
  event.shape = {.dimensions = 2, .extent = {4, 5}};
  return event;
}

TEST(Event, ComesBack) {
  Event sent = definition();
  sent.attribute = {array::ElementType::int16, false, std::vector<std::byte>(4)};
  EXPECT_EQ(encode(decode_event(encode(sent))), encode(sent));
}

void expect_refusal(const Event& event) { EXPECT_THROW((void)decode_event(encode(event)), Error); }

TEST(Event, ThatNobodyCanSayIsRefused) {
  Event event = definition();
  event.what = Event::What{5};
  expect_refusal(event);
  event = definition();
  event.type = array::ElementType{15};
  expect_refusal(event);
  event = definition();
  event.shape.dimensions = array::max_dimensions + 1;
  expect_refusal(event);
  event.shape = {.dimensions = 1, .extent = {-1}};
  expect_refusal(event);
  event = definition();
  event.attribute.type = array::ElementType::int32;
  event.attribute.values.resize(3);
  expect_refusal(event);
  auto bytes = encode(definition());
  // Behind it come the length of the value, a number and a time.
  const auto is_text =
      bytes.size() - sizeof(std::uint64_t) - sizeof(std::int64_t) - sizeof(double) - 1;
  bytes.at(is_text) = std::byte{2};
  EXPECT_THROW((void)decode_event(bytes), Error);
}

}  // namespace
}  // namespace iocomp::contents
