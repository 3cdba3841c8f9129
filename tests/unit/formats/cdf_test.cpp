// SPDX-License-Identifier: BSD-3-Clause
// Tests how the netCDF formats describe variables, without a file.
#include <gtest/gtest.h>

#include <array>
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
#include "contents/catalogue.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "formats/cdf/types.h"
#include "formats/format.h"
#include "formats/pnetcdf/header.h"
#include "formats/pnetcdf/layout.h"
#include "formats/rules.h"

namespace iocomp::formats::cdf {
namespace {

using array::ElementType;
using Names = std::vector<std::string>;

Variable variable(int id, ElementType type, std::vector<std::int64_t> extents,
                  std::optional<std::string> dimensions = std::nullopt) {
  return {id, "v" + std::to_string(id), type,
          array::make_shape(static_cast<int>(extents.size()), extents.data()),
          std::move(dimensions)};
}

TEST(Dimensions, AreCalledAfterTheirExtentsWithTimeInFilesOfAllSteps) {
  const auto u = variable(0, ElementType::float64, {3, 5, 3});
  EXPECT_EQ(dimensions_of(u, false).names, (Names{"dim_3", "dim_5", "dim_3_2"}));
  EXPECT_TRUE(dimensions_of(u, false).has_time);
  EXPECT_FALSE(dimensions_of(u, true).has_time);
}

TEST(Dimensions, AreThoseOfTheAttribute) {
  const auto with = dimensions_of(variable(0, ElementType::int8, {2, 4}, "time  y x"), true);
  EXPECT_TRUE(with.has_time);
  EXPECT_EQ(with.names, (Names{"y", "x"}));
  EXPECT_FALSE(dimensions_of(variable(0, ElementType::int8, {4}, "x"), false).has_time);
  EXPECT_TRUE(dimensions_of(variable(0, ElementType::int8, {}, "time"), true).has_time);
  EXPECT_FALSE(dimensions_of(variable(0, ElementType::int8, {}, ""), false).has_time);
}

TEST(Dimensions, OfAnotherNumberOrWithTimeInsideAreRefused) {
  for (const char* text : {"", "x", "x y z", "x time", "time x time"}) {
    EXPECT_THROW((void)dimensions_of(variable(0, ElementType::int8, {2, 4}, text), false), Error)
        << text;
  }
}

TEST(Dimensions, HaveOneLengthEach) {
  contents::DimensionTable table;
  const auto u = variable(0, ElementType::int8, {2, 4}, "y x");
  const auto v = variable(1, ElementType::int8, {4, 9}, "x z");
  EXPECT_EQ(table.add(u, dimensions_of(u, true)), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(table.add(v, dimensions_of(v, true)), (std::vector<std::size_t>{1, 2}));
  const auto w = variable(2, ElementType::int8, {3, 7}, "new y");
  EXPECT_THROW((void)table.add(w, dimensions_of(w, true)), Error);
  EXPECT_EQ(table.entries().size(), 3U);
}

constexpr std::int64_t room = 65536;  // for the header

TEST(PnetcdfLayout, PutsRecordsBehindVariablesWithoutTime) {
  PnetcdfLayout layout{room, 512, false};
  const std::vector<Variable> all{variable(0, ElementType::float64, {10}),
                                  variable(1, ElementType::int16, {3}),
                                  variable(2, ElementType::float32, {100}, "x")};
  EXPECT_EQ(layout.defined(), 0);
  layout.define(all);
  EXPECT_EQ(layout.defined(), 3);
  EXPECT_EQ(layout.place(all[2], 0), room);
  EXPECT_EQ(layout.place(all[0], 0), room + 512);
  EXPECT_EQ(layout.place(all[1], 0), room + 512 + 80);
  EXPECT_EQ(layout.place(all[0], 2), room + 512 + 2 * 88);  // 80 bytes and 6, padded
  EXPECT_EQ(layout.file_bytes(3), room + 512 + 3 * 88);
}

TEST(PnetcdfLayout, DoesNotPadTheOnlyVariableWithTime) {
  PnetcdfLayout layout{room, 1, false};
  const std::vector<Variable> all{variable(0, ElementType::int16, {3})};
  layout.define(all);
  EXPECT_EQ(layout.place(all[0], 5), room + 5 * 6);
  EXPECT_EQ(layout.file_bytes(7), room + 7 * 6);
}

TEST(PnetcdfLayout, TakesMoreVariablesAsLongAsThereIsOneRecord) {
  PnetcdfLayout layout{room, 1, false};
  std::vector<Variable> all{variable(0, ElementType::float64, {4})};
  layout.define(all);
  EXPECT_EQ(layout.place(all[0], 0), room);
  all.push_back(variable(1, ElementType::float64, {4}));
  layout.define(all);
  EXPECT_EQ(layout.place(all[1], 0), room + 32);
  EXPECT_EQ(layout.place(all[0], 1), room + 64);
  all.push_back(variable(2, ElementType::float64, {4}));
  EXPECT_THROW(layout.define(all), Error);
}

TEST(PnetcdfLayout, HasNoRoomForAVariableWithoutTimeThatComesLate) {
  PnetcdfLayout layout{room, 1, false};
  std::vector<Variable> all{variable(0, ElementType::float64, {4})};
  layout.define(all);
  all.push_back(variable(1, ElementType::float64, {4}, "x"));
  layout.define(all);
  EXPECT_THROW((void)layout.place(all[1], 0), Error);
  EXPECT_EQ(layout.place(all[0], 0), room);
}

TEST(PnetcdfLayout, TellsWhichPartsOfRecordsNobodyPut) {
  PnetcdfLayout layout{room, 1, false};
  const std::vector<Variable> all{variable(0, ElementType::float64, {4}),
                                  variable(1, ElementType::int32, {2})};
  layout.define(all);
  Description description;
  description.contents = {{0, all[0], layout.place(all[0], 0)}, {1, all[1], -1}};
  const auto gaps = layout.gaps(description, 0, 2);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].offset, room + 32);
  EXPECT_EQ(gaps[0].bytes, 8);
  EXPECT_EQ(gaps[1].offset, room + 40);
  EXPECT_EQ(gaps[1].bytes, 32);
}

TEST(PnetcdfLayout, OfOneStepGivesAVariableNewRoomWithANewShape) {
  PnetcdfLayout layout{room, 512, true};
  EXPECT_EQ(layout.place(variable(0, ElementType::int8, {5}), 7), room);
  EXPECT_EQ(layout.place(variable(0, ElementType::int8, {600}), 7), room + 512);
  EXPECT_EQ(layout.place(variable(1, ElementType::int8, {}), 7), room + 512 + 1024);
  EXPECT_EQ(layout.place(variable(2, ElementType::int8, {0}), 7), -1);
  EXPECT_EQ(layout.file_bytes(0), room + 512 + 1024 + 4);
}

TEST(PnetcdfLayout, MakesTwiceTheRoomThatAHeaderNeedsWhoseVariablesAreKnown) {
  for (const bool one_step : {false, true}) {
    PnetcdfLayout layout{room, 1, one_step};
    contents::Catalogue catalogue{rules::pnetcdf, 1, !one_step};
    contents::Event event;
    event.what = contents::Event::What::define;
    for (int id = 0; id < 5000; ++id) {
      event.name = "v" + std::to_string(id);
      event.shape = array::make_shape(2, std::array<std::int64_t, 2>{4, id + 1}.data());
      catalogue.apply(event);  // a dimension each
    }
    constexpr std::int64_t attributes = 3 * room;
    event.what = contents::Event::What::attribute;
    event.name = "history";
    event.attribute = {ElementType::uint8, true, std::vector<std::byte>(attributes)};
    catalogue.apply(event);
    auto all = catalogue.all_variables(0);
    layout.expect_header(catalogue.header_bytes());
    layout.define(all);
    Description description;
    for (const auto& one : all) {
      description.contents.push_back({0, one, layout.place(one, 0)});
    }
    description.attributes = catalogue.attributes(0);
    EXPECT_GE(layout.header_bytes(),
              2 * std::ssize(encode(layout.header(description, layout.defined_variables()))));
    EXPECT_EQ(description.contents.front().offset, layout.header_bytes());
    const auto before = layout.header_bytes();
    all.push_back(variable(5000, ElementType::float64, {4}));
    layout.define(all);
    EXPECT_EQ(layout.header_bytes(), before);  // there are data behind it
  }
}

TEST(Header, IsThatOfTheSpecification) {
  Header header;
  header.records = 2;
  header.dimensions = {{"time", 0}};
  header.variables = {{"u", {0}, {}, ElementType::int16, 2, 256}};
  const auto bytes = encode(header);
  const std::vector<int> expected{
      'C', 'D', 'F', 5,  0, 0, 0, 0, 0,   0,   0,   2,  // records
      0,   0,   0,   10, 0, 0, 0, 0, 0,   0,   0,   1,  // dimensions
      0,   0,   0,   0,  0, 0, 0, 4, 't', 'i', 'm', 'e', 0, 0, 0, 0,
      0,   0,   0,   0,                                               // time, records
      0,   0,   0,   0,  0, 0, 0, 0, 0,   0,   0,   0,                // no attributes
      0,   0,   0,   11, 0, 0, 0, 0, 0,   0,   0,   1,                // variables
      0,   0,   0,   0,  0, 0, 0, 1, 'u', 0,   0,   0,                // name
      0,   0,   0,   0,  0, 0, 0, 1, 0,   0,   0,   0,   0, 0, 0, 0,  // of time
      0,   0,   0,   0,  0, 0, 0, 0, 0,   0,   0,   0,                // no attributes
      0,   0,   0,   3,  0, 0, 0, 0, 0,   0,   0,   4,   0, 0, 0, 0,
      0,   0,   1,   0};  // type, size, begin
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << "byte " << i;
  }
}

Header some_header() {
  Header header;
  header.records = 3;
  header.dimensions = {{"time", 0}, {"x", 5}, {"y", 3}};
  header.attributes["title"] = {ElementType::uint8, true, std::vector<std::byte>(7)};
  header.attributes["scale"] = {ElementType::float64, false, std::vector<std::byte>(8)};
  header.variables = {{"x", {1}, {}, ElementType::float64, 40, room},
                      {"u", {0, 2}, {}, ElementType::int16, 6, room + 512},
                      {"v", {0}, {}, ElementType::float32, 4, room + 520}};
  header.variables[1].attributes["units"] = {ElementType::uint8, true, std::vector<std::byte>(1)};
  return header;
}

TEST(Header, IsReadBackAsItWasWritten) {
  const auto bytes = encode(some_header());
  const auto found = decode(bytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->records, 3);
  EXPECT_EQ(found->variables[1].bytes, 6);
  EXPECT_EQ(found->variables[2].begin, room + 520);
  EXPECT_EQ(encode(*found), bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::span{bytes}.first(length))) << length;
  }
}

TEST(Header, OfAnotherVersionOrWithANegativeLengthIsTold) {
  Header header;
  header.dimensions = {{"x", 3}};
  const auto bytes = encode(header);
  std::vector<std::byte> empty(4 + 4 + 3 * 8);  // as CDF-1 has it
  empty[0] = std::byte{'C'};
  empty[1] = std::byte{'D'};
  empty[2] = std::byte{'F'};
  for (const int version : {1, 2, 3, 7}) {
    empty[3] = static_cast<std::byte>(version);
    EXPECT_EQ(outcome_of([&] { (void)decode(empty); }).ok(), version < 3) << version;
  }
  auto negative = bytes;  // in the list of variables, which ends the header
  negative[negative.size() - 9] = std::byte{11};
  negative[negative.size() - 8] = std::byte{0x80};
  EXPECT_THROW((void)decode(negative), Error);
  EXPECT_TRUE(decode(bytes));
}

TEST(Header, TellsWhereARecordOfAVariableBegins) {
  Header header;
  header.records = 3;
  header.dimensions = {{"time", 0}, {"x", 3}};
  header.variables = {{"fixed", {1}, {}, array::ElementType::float64, 24, 512},
                      {"u", {0, 1}, {}, array::ElementType::float32, 12, 1024},
                      {"v", {0}, {}, array::ElementType::int8, 1, 1036}};
  EXPECT_EQ(begin_of(header, "fixed", 2, "f"), 512);
  EXPECT_EQ(begin_of(header, "u", 2, "f"), 1024 + 2 * 16);
  EXPECT_EQ(begin_of(header, "v", 2, "f"), 1036 + 2 * 16);
  EXPECT_EQ(end_of_elements(header), 1036 + 2 * 16 + 1);
  header.variables.pop_back();
  EXPECT_EQ(begin_of(header, "u", 2, "f"), 1024 + 2 * 12);
  EXPECT_THROW((void)begin_of(header, "w", 0, "f"), Error);
}

TEST(Header, ThatIsDamagedIsTold) {
  const auto good = encode(some_header());
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bytes = good;
    bytes[at] ^= std::byte{0x80};
    try {
      (void)decode(bytes);  // may be another header, or a longer one
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::storage_failure) << at;
    }
  }
  auto bytes = good;
  bytes[3] = std::byte{3};
  EXPECT_THROW((void)decode(bytes), Error);
}

class GoesOn : public testing::Test {
 protected:
  GoesOn() { layout_.go_on(some_header(), {"x", "u", "v"}); }
  static Variable named(const char* name, int id, ElementType type,
                        std::vector<std::int64_t> extents, const char* dimensions) {
    auto made = variable(id, type, std::move(extents), dimensions);
    made.name = name;
    return made;
  }
  PnetcdfLayout layout_{room, 512, false};
  Variable v_ = named("v", 0, ElementType::float32, {}, "time");
  Variable u_ = named("u", 1, ElementType::int16, {3}, "time y");
  Variable x_ = named("x", 2, ElementType::float64, {5}, "x");
};

TEST_F(GoesOn, VariablesKeepTheirPlacesWhateverTheOrder) {
  layout_.define(std::vector{v_, u_});
  EXPECT_EQ(layout_.place(v_, 3), room + 520 + 3 * 12);
  EXPECT_EQ(layout_.place(u_, 4), room + 512 + 4 * 12);
  EXPECT_EQ(layout_.file_bytes(3), room + 512 + 3 * 12);
}

TEST_F(GoesOn, TheHeaderIsTheSameWhereNothingNewIsSaid) {
  layout_.define(std::vector{u_});
  auto before = some_header();
  before.records = 0;
  EXPECT_EQ(encode(layout_.header({}, {})), encode(before));
}

TEST_F(GoesOn, WhatHasNoTimeIsNotWrittenOverWhereAStepHasIt) {
  layout_.define(std::vector{v_, u_, x_});
  EXPECT_THROW((void)layout_.place(x_, 3), Error);
  PnetcdfLayout dropped{room, 512, false};
  dropped.go_on(some_header(), {"u", "v"});
  dropped.define(std::vector{v_, u_, x_});
  EXPECT_EQ(dropped.place(x_, 3), room);
}

TEST_F(GoesOn, AVariableWithoutTimeThatIsNewHasNoPlace) {
  auto header = some_header();
  for (const bool has_records : {true, false}) {
    PnetcdfLayout layout{room, 512, false};
    layout.go_on(header, {"x"});
    const auto fresh = named("fresh", 3, ElementType::int32, {7}, "z");
    layout.define(std::vector{fresh});
    EXPECT_THROW((void)layout.place(fresh, 3), Error) << has_records;
    header.variables.resize(1);
  }
}

TEST_F(GoesOn, NewOrOtherRecordsAreRefused) {
  EXPECT_THROW(layout_.define(std::vector{named("w", 0, ElementType::int8, {}, "time")}), Error);
  PnetcdfLayout other{room, 512, false};
  other.go_on(some_header(), {"u"});
  const auto longer = named("u", 0, ElementType::int16, {4}, "time y");
  other.define(std::vector{longer});
  EXPECT_THROW((void)other.place(longer, 3), Error);
  auto moved = some_header();
  moved.variables[2].begin += 4;
  EXPECT_THROW((PnetcdfLayout{room, 512, false}.go_on(moved, {})), Error);
}

TEST(Types, ThatNetcdfHasNotAreRefused) {
  EXPECT_EQ(type_number(ElementType::uint64), 11);
  EXPECT_THROW((void)type_number(ElementType::float16), Error);
  EXPECT_EQ(type_of(5), ElementType::float32);
  EXPECT_EQ(type_of(2), ElementType::character);
  EXPECT_EQ(type_of(12), std::nullopt);
}

TEST(PnetcdfLayout, SplitsComplexNumbersAlongOneMoreDimension) {
  PnetcdfLayout layout{room, 512, false};
  auto u = variable(0, ElementType::complex64, {4}, "time x");
  const auto v = variable(1, ElementType::complex128, {2, 1, 3, 1, 2, 1, 2, 1});
  u.fill_value = Attribute{u.type, false, std::vector<std::byte>(8, std::byte{1})};
  layout.define(std::vector{u, v});
  Description description;
  description.contents = {{0, u, layout.place(u, 0)}, {0, v, layout.place(v, 0)}};
  description.of_variable = {{{contents::fill_attribute, *u.fill_value}}, {}};
  const auto bytes = encode(layout.header(description, {0, 1}));
  const auto header = decode(bytes);
  ASSERT_TRUE(header);
  const auto& of_u = header->variables[0];
  EXPECT_EQ(of_u.type, ElementType::float32);
  EXPECT_EQ(of_u.bytes, u.bytes());
  ASSERT_EQ(of_u.dimensions.size(), 3U);
  EXPECT_EQ(header->dimensions[of_u.dimensions.back()].name, contents::complex_dimension);
  EXPECT_EQ(header->dimensions[of_u.dimensions.back()].length, 2);
  EXPECT_EQ(of_u.attributes.at(contents::fill_attribute).count(), 1);
  EXPECT_EQ(header->variables[1].dimensions.size(), 10U);
  EXPECT_EQ(own_fill_value(u.type, of_u.attributes), u.fill_value);
  EXPECT_EQ(fill_value(v.type, std::nullopt).size(), 16U);

  PnetcdfLayout later{room, 512, false};
  later.go_on(*header, {"v0", "v1"});
  later.define(std::vector{u, v});
  EXPECT_EQ(later.place(u, 1), layout.place(u, 1));
  EXPECT_EQ(later.place(v, 1), layout.place(v, 1));
  EXPECT_EQ(encode(later.header({}, {})), bytes);
  PnetcdfLayout other{room, 512, false};
  other.go_on(*header, {"v0", "v1"});
  const auto real = variable(0, ElementType::float32, {4}, "time x");
  other.define(std::vector{real});
  EXPECT_THROW((void)other.place(real, 1), Error);
}

TEST(PnetcdfLayout, RefusesMoreBytesThan63BitsCount) {
  constexpr std::int64_t many = std::numeric_limits<std::int64_t>::max() / 2;
  PnetcdfLayout layout{room, 512, false};
  const std::vector<Variable> all{variable(0, ElementType::int8, {many}),
                                  variable(1, ElementType::int8, {many})};
  EXPECT_THROW(layout.define(all), Error);
  PnetcdfLayout one{room, 512, false};
  one.define(std::vector{all[0]});
  EXPECT_NO_THROW((void)one.place(all[0], 0));
  EXPECT_THROW((void)one.place(all[0], 1), Error);
}

}  // namespace
}  // namespace iocomp::formats::cdf
