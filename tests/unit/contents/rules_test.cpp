// SPDX-License-Identifier: BSD-3-Clause
#include "contents/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/composed.h"
#include "contents/rules_page.h"
#include "contents/variable.h"
#include "formats/rules.h"

namespace iocomp::contents {
namespace {

namespace rules = formats::rules;
using array::ElementType;

Attribute text(const std::string& value) {
  const auto bytes = std::as_bytes(std::span{value});
  return {ElementType::uint8, true, {bytes.begin(), bytes.end()}};
}

Attribute numbers(ElementType type, std::size_t count) {
  return {type, false, std::vector<std::byte>(count * array::size_bytes(type), std::byte{1})};
}

template <typename Number>
std::vector<std::byte> bytes(Number number) {
  const auto found = std::as_bytes(std::span{&number, 1});
  return {found.begin(), found.end()};
}

Attribute real(double number) { return {ElementType::float64, false, bytes(number)}; }

// Returns the story of a call that fails, or nothing.
template <typename Call>
std::string story_of(const Call& call, ErrorCode code = ErrorCode::unsupported) {
  const Outcome outcome = outcome_of(call);
  EXPECT_TRUE(outcome.ok() || outcome.code == code) << outcome.story;
  return outcome.story;
}

std::string variable_in(const Rules& rules, const std::string& name,
                        ElementType type = ElementType::float64,
                        std::vector<std::int64_t> extents = {}) {
  return story_of([&] {
    check(rules, Variable{0, name, type,
                          array::make_shape(static_cast<int>(extents.size()), extents.data())});
  });
}

std::string attribute_in(const Rules& rules, const std::string& name, const Attribute& value,
                         bool of_variable = true) {
  const Variable owner{0, "u", value.type, {}};
  return story_of([&] { check(rules, of_variable ? &owner : nullptr, name, value); });
}

TEST(Rules, NameTheFormatAndWhatItCannotHold) {
  EXPECT_EQ(variable_in(rules::pnetcdf, "u", ElementType::float16),
            "pnetcdf cannot hold the variable \"u\": it has no elements of type float16");
  EXPECT_EQ(
      attribute_in(rules::adios2_bp4, "a", text(std::string(65536, 'x')), false),
      "adios2 with engine = \"BP4\" cannot hold the attribute \"a\" of the file: it has 65536 "
      "bytes, at most 65535 are allowed");
}

TEST(Rules, AllowWhatIsUsualInEveryFormat) {
  for (const Rules& each : rules::all) {
    for (const char* name : {"u", "T2", "velocity_x", "x-y", "Gr\u00f6\u00dfe"}) {
      EXPECT_EQ(variable_in(each, name, ElementType::float32, {4, 5}), "");
      EXPECT_EQ(attribute_in(each, name, text("m")), "");
      EXPECT_EQ(attribute_in(each, name, numbers(ElementType::int32, 3), false), "");
    }
  }
}

TEST(Rules, KeepNamesForReaders) {
  for (const char* name : {"NAME", "CLASS", "DIMENSION_LIST", "_NCProperties", "_nc3_strict",
                           "_Netcdf4Coordinates", "REFERENCE_LIST", "_nczarr_array"}) {
    EXPECT_NE(attribute_in(rules::netcdf, name, text("x")), "") << name;
    EXPECT_NE(attribute_in(rules::pnetcdf, name, text("x"), false), "") << name;
    EXPECT_EQ(attribute_in(rules::hdf5, name, text("x")), "") << name;
  }
  EXPECT_NE(variable_in(rules::netcdf, "_nc4_non_coord_u"), "");
  EXPECT_NE(variable_in(rules::adios2_bp4, "iocomp_empty_step"), "");
  EXPECT_NE(attribute_in(rules::adios2_hdf5, "NumSteps", text("x"), false), "");
}

TEST(Rules, TakeGroupsWhereReadersTakeThemForNothingElse) {
  EXPECT_EQ(variable_in(rules::hdf5, "0/u"), "");
  EXPECT_EQ(variable_in(rules::hdf5, "a/b.c/..d"), "");
  EXPECT_NE(variable_in(rules::hdf5_flat, "0/u"), "");
  EXPECT_NE(variable_in(rules::hdf5_time, "12/u"), "");
  EXPECT_EQ(variable_in(rules::hdf5_time, "012/u"), "");
  EXPECT_EQ(variable_in(rules::hdf5_time, "0"), "");
  EXPECT_NE(variable_in(rules::netcdf, "a/u"), "");
  EXPECT_NE(attribute_in(rules::adios2_bp5, "u/units", text("m"), false), "");
  EXPECT_NE(attribute_in(rules::adios2_bp5, "u/units", text("m")), "");
  EXPECT_EQ(attribute_in(rules::hdf5, "u/units", text("m")), "");
}

TEST(Rules, RefuseInAllFormatsNamesThatNoReaderCouldAskFor) {
  for (const Rules& each : rules::all) {
    for (const char* name : {"", "/a", "a/", "a//b", ".", "..", "a/../u", "./a", "a\x01", "a\xae",
                             "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
      const Variable variable{0, name, ElementType::float64, {}};
      EXPECT_NE(story_of([&] { check(each, variable); }, ErrorCode::invalid_argument), "") << name;
    }
  }
}

TEST(Rules, BoundAttributes) {
  EXPECT_EQ(attribute_in(rules::adios2_bp4, "a", text(std::string(65535, 'x'))), "");
  EXPECT_NE(attribute_in(rules::adios2_hdf5, "a", text(std::string(65535, 'x'))), "");
  EXPECT_NE(attribute_in(rules::adios2_hdf5, "a", text("")), "");
  EXPECT_EQ(attribute_in(rules::adios2_bp5, "a", text("")), "");
  EXPECT_NE(attribute_in(rules::adios2_bp5, "a", numbers(ElementType::int8, 0)), "");
  EXPECT_NE(attribute_in(rules::adios2_bp5, "a", numbers(ElementType::float16, 1)), "");
  EXPECT_EQ(attribute_in(rules::adios2_bp5, "a", numbers(ElementType::complex64, 1)), "");
}

TEST(Rules, TakeListsOfTextsWhereReadersDo) {
  const auto list = [](const std::vector<std::string>& texts) { return list_attribute(texts); };
  EXPECT_EQ(list({"a", "", "bc"}).count(), 3);
  EXPECT_EQ(text_of(list({"a", "b"})), "a");
  EXPECT_EQ(texts_of(list({"a", "", "bc"})), (std::vector<std::string>{"a", "", "bc"}));
  EXPECT_EQ(attribute_in(rules::hdf5, "a", list({"a", ""})), "");
  EXPECT_NE(attribute_in(rules::adios2_hdf5, "a", list({"a", "b"})), "");
  EXPECT_NE(attribute_in(rules::pnetcdf, "a", list({"a"})).find("flag_meanings"),
            std::string::npos);
  EXPECT_EQ(attribute_in(rules::netcdf, "a", list({"a", "b"})), "");
  EXPECT_NE(attribute_in(rules::adios2_bp4, "a", list({"a"})), "");
  EXPECT_EQ(attribute_in(rules::adios2_bp5, "a", list({"a"})), "");
  EXPECT_NE(attribute_in(rules::netcdf, "a", list({"a"})), "");
  EXPECT_NE(story_of([&] { check(rules::posix, nullptr, "a", list({"\xff"})); },
                     ErrorCode::invalid_argument),
            "");
}

TEST(Rules, OfNetcdfTakeComplexFillValuesWhosePartsAreTheSame) {
  const auto same = numbers(ElementType::complex64, 1);
  auto other = same;
  other.values.back() = std::byte{2};
  for (const Rules& each : {rules::netcdf, rules::pnetcdf}) {
    EXPECT_EQ(variable_in(each, "u", ElementType::complex128), "");
    EXPECT_EQ(attribute_in(each, "_FillValue", same), "");
    EXPECT_NE(attribute_in(each, "_FillValue", other), "");
    EXPECT_NE(attribute_in(each, "_FillValue", same, false), "");
    EXPECT_NE(attribute_in(each, "a", same), "");
  }
  EXPECT_EQ(attribute_in(rules::hdf5, "_FillValue", other), "");
}

TEST(Rules, TakeNamesOfNetcdfInComposedFormAlone) {
  EXPECT_EQ(variable_in(rules::netcdf, "caf\u00e9"), "");
  EXPECT_NE(variable_in(rules::netcdf, "cafe\u0301"), "");
  EXPECT_NE(variable_in(rules::netcdf, "\u212b"), "");  // a sign that is another letter
  EXPECT_EQ(variable_in(rules::hdf5, "cafe\u0301"), "");
  EXPECT_TRUE(is_composed("\u6ce2 \U0001F600 \u00c5 \uac00"));
  EXPECT_FALSE(is_composed("\uf900"));
}

TEST(Rules, MakeATableWithAColumnForThoseThatDiffer) {
  const std::string page = rules_markdown(rules::all);
  EXPECT_NE(page.find("| posix; mpiio |"), std::string::npos) << page;
  const std::string table = page.substr(0, page.find("\n\n") + 1);
  const auto lines = std::ranges::count(table, '\n');
  EXPECT_GT(lines, 12);
  const auto bars = std::ranges::count(table, '|');
  EXPECT_EQ(bars % lines, 0);
  EXPECT_NE(page.find("netcdf, pnetcdf: attributes may not be called `CLASS`"), std::string::npos);
}

// The rules that depend on earlier calls.

class Definitions : public ::testing::Test {
 protected:
  static std::string define(Catalogue& catalogue, const std::string& name,
                            std::vector<std::int64_t> extents, std::int64_t step = 0,
                            ErrorCode code = ErrorCode::unsupported) {
    Event event;
    event.what = Event::What::define;
    event.step = step;
    event.name = name;
    event.shape = array::make_shape(static_cast<int>(extents.size()), extents.data());
    return story_of([&] { catalogue.apply(event); }, code);
  }
  static std::string set_shape(Catalogue& catalogue, int variable, std::int64_t extent,
                               std::int64_t step = 0) {
    Event event;
    event.what = Event::What::set_shape;
    event.step = step;
    event.variable = variable;
    event.shape = array::make_shape(1, &extent);
    return story_of([&] { catalogue.apply(event); });
  }
  static std::string attribute(Catalogue& catalogue, int variable, const std::string& name,
                               const Attribute& value, std::int64_t step = 0,
                               ErrorCode code = ErrorCode::unsupported) {
    return story_of([&] { catalogue.apply(event(variable, name, value, step)); }, code);
  }
  static Event event(int variable, const std::string& name, const Attribute& value,
                     std::int64_t step = 0) {
    Event event;
    event.what = Event::What::attribute;
    event.step = step;
    event.variable = variable;
    event.name = name;
    event.attribute = value;
    return event;
  }
};

TEST_F(Definitions, OfFillValuesAreOneOfTheVariablesType) {
  for (const Rules& each : rules::all) {
    Catalogue catalogue{each, 1, true};
    define(catalogue, "u", {4});
    const auto wrong = ErrorCode::invalid_argument;
    EXPECT_NE(attribute(catalogue, 0, "_FillValue", numbers(ElementType::int32, 1), 0, wrong), "");
    EXPECT_NE(attribute(catalogue, 0, "_FillValue", numbers(ElementType::float64, 2), 0, wrong),
              "");
    EXPECT_NE(attribute(catalogue, 0, "_FillValue", text("x"), 0, wrong), "");
    EXPECT_EQ(attribute(catalogue, 0, "_FillValue", numbers(ElementType::float64, 1)), "");
    EXPECT_EQ(attribute(catalogue, -1, "_FillValue", text("x")), "");  // of a file it is nothing
  }
}

TEST_F(Definitions, OfKeptBitsAreOneInteger) {
  for (const Rules& each : rules::all) {
    Catalogue catalogue{each, 1, true};
    define(catalogue, "u", {4});
    const auto wrong = ErrorCode::invalid_argument;
    EXPECT_NE(attribute(catalogue, 0, kept_bits_attribute, text("7"), 0, wrong), "");
    EXPECT_NE(
        attribute(catalogue, 0, kept_bits_attribute, numbers(ElementType::int32, 2), 0, wrong), "");
    EXPECT_EQ(attribute(catalogue, 0, kept_bits_attribute, numbers(ElementType::int32, 1)), "");
  }
}

TEST_F(Definitions, StayWhereAFileHasThoseOfItsFirstStepInAll) {
  for (const Rules& each : {rules::netcdf, rules::pnetcdf, rules::hdf5_time}) {
    Catalogue catalogue{each, 1, true};
    define(catalogue, "u", {0});
    EXPECT_EQ(set_shape(catalogue, 0, 7), "");  // before anybody has put anything
    EXPECT_EQ(set_shape(catalogue, 0, 9), "");
    EXPECT_NE(set_shape(catalogue, 0, 9, 1), "");
    EXPECT_NE(define(catalogue, "v", {3}, 1), "");
    EXPECT_EQ(attribute(catalogue, 0, "units", text("m"), 1), "");
    EXPECT_NE(attribute(catalogue, 0, "_FillValue", numbers(ElementType::float64, 1), 1), "");
    Catalogue in_files{each, 1, false};
    define(in_files, "u", {0});
    EXPECT_EQ(set_shape(in_files, 0, 9, 1), "");
    EXPECT_EQ(attribute(in_files, 0, "_FillValue", numbers(ElementType::float64, 1), 1), "");
  }
}

TEST_F(Definitions, NameDimensionsOfOneLength) {
  for (const Rules& each : {rules::netcdf, rules::pnetcdf}) {
    Catalogue catalogue{each, 1, true};
    define(catalogue, "u", {5});
    define(catalogue, "v", {7});
    EXPECT_EQ(attribute(catalogue, 0, "dimensions", text("time x")), "");
    EXPECT_NO_THROW(catalogue.check_step(0));
    EXPECT_EQ(attribute(catalogue, 1, "dimensions", text("time x")), "");
    const auto told = story_of([&] { catalogue.check_step(0); }, ErrorCode::invalid_argument);
    EXPECT_NE(told.find("the dimension \"x\""), std::string::npos) << told;
    EXPECT_EQ(set_shape(catalogue, 1, 5), "");
    EXPECT_NO_THROW(catalogue.check_step(0));
    const auto wrong = ErrorCode::invalid_argument;
    EXPECT_NE(attribute(catalogue, 1, "dimensions", text("x time"), 0, wrong), "");
    EXPECT_NE(attribute(catalogue, 1, "dimensions", text("time x y z"), 0, wrong), "");
    EXPECT_NE(attribute(catalogue, 1, "dimensions", text("-")), "");
    EXPECT_NE(attribute(catalogue, 1, "dimensions", numbers(ElementType::int32, 1), 0, wrong), "");
    EXPECT_NE(attribute(catalogue, 1, "dimensions", text("time y"), 1), "");
    EXPECT_EQ(attribute(catalogue, 1, "dimensions", text("time x"), 1), "");  // as they are
  }
  Catalogue plain{rules::hdf5, 1, true};
  define(plain, "u", {5});
  EXPECT_EQ(attribute(plain, 0, "dimensions", text("one two three")), "");
  EXPECT_NO_THROW(plain.check_step(0));
}

TEST_F(Definitions, KeepTypesOfAttributesWhereReadersWantThat) {
  Catalogue catalogue{rules::adios2_bp5, 1, true};
  define(catalogue, "u", {5});
  EXPECT_EQ(attribute(catalogue, 0, "a", text("m")), "");
  EXPECT_EQ(attribute(catalogue, 0, "a", text("km"), 1), "");
  EXPECT_NE(attribute(catalogue, 0, "a", numbers(ElementType::int32, 1), 1), "");
  EXPECT_EQ(attribute(catalogue, -1, "a", numbers(ElementType::int32, 1), 1), "");
  Catalogue in_files{rules::adios2_bp5, 1, false};
  EXPECT_EQ(attribute(in_files, -1, "a", text("m")), "");
  EXPECT_EQ(attribute(in_files, -1, "a", numbers(ElementType::int32, 1), 1), "");
  Catalogue later{rules::adios2_bp4, 1, true};
  Beginning beginning;
  beginning.attributes.emplace("u/a", EarlierAttribute{ElementType::int32});
  later.begin_at(beginning);
  define(later, "u", {5});
  EXPECT_NE(attribute(later, 0, "a", text("m")), "");
  EXPECT_EQ(attribute(later, 0, "a", numbers(ElementType::int32, 1)), "");
}

TEST_F(Definitions, KeepTheMeaningOfEarlierValues) {
  Beginning beginning;
  beginning.is_there = true;
  beginning.variables = {"u", "v"};
  beginning.meaning = {
      {"u", {{"scale_factor", real(0.5)}, {"_FillValue", numbers(ElementType::float64, 1)}}},
      {"v", {{"_FillValue", numbers(ElementType::float64, 1)}}}};
  for (const Rules& each : rules::all) {
    Catalogue catalogue{each, 1, true};
    catalogue.begin_at(beginning);
    define(catalogue, "u", {5});
    define(catalogue, "v", {5});
    define(catalogue, "w", {5});
    const auto refused = [&](int variable, const std::string& name, const Attribute& value) {
      const auto story = attribute(catalogue, variable, name, value);
      EXPECT_TRUE(story.starts_with("cannot go on with the variable \"")) << name << story;
      return story;
    };
    EXPECT_EQ(refused(0, "scale_factor", real(0.25)),
              "cannot go on with the variable \"u\": it has scale_factor = 1 float64: 0.5 in the "
              "file of earlier jobs, and scale_factor = 1 float64: 0.25 in this one, so the values "
              "there would mean something else; say the same, take another file, or existing = "
              "\"replace\"");
    EXPECT_NE(refused(1, "scale_factor", real(0.5)).find("it has no scale_factor"),
              std::string::npos);
    refused(0, "add_offset", real(1));
    refused(0, "_FillValue", real(-5));
    refused(0, "missing_value", real(-5));
    refused(0, "_Unsigned", text("true"));
    refused(1, "dtype", text("bool"));
    EXPECT_EQ(attribute(catalogue, 0, "units", text("m")), "");
    EXPECT_EQ(attribute(catalogue, 2, "scale_factor", real(0.25)), "") << "it is new";
    const auto put = [&](int variable) {
      return story_of([&] { catalogue.check_goes_on(variable, 0); });
    };
    EXPECT_NE(put(0).find("no _FillValue in this one"), std::string::npos);
    EXPECT_EQ(attribute(catalogue, 0, "_FillValue", numbers(ElementType::float64, 1)), "");
    EXPECT_NE(put(0).find("no scale_factor in this one"), std::string::npos);
    EXPECT_EQ(attribute(catalogue, 0, "scale_factor", {ElementType::float32, false, bytes(0.5F)}),
              "");
    EXPECT_EQ(put(0), "");
    EXPECT_EQ(put(1).empty(), !each.keeps_first_definitions);
    EXPECT_EQ(put(2), "");
  }
}

TEST_F(Definitions, KeepTheMeaningOfTimes) {
  Beginning beginning;
  beginning.variables = {"time"};
  beginning.meaning["time"] = {{"units", text("days since 1850-01-01")},
                               {"calendar", text("noleap")}};
  Catalogue catalogue{rules::netcdf, 1, true};
  catalogue.begin_at(beginning);
  const auto told = [&](const Attributes& said) {
    return story_of([&] { catalogue.check_goes_on("time", said); });
  };
  EXPECT_EQ(told({}), "") << "the file says it";
  EXPECT_EQ(told(beginning.meaning["time"]), "");
  EXPECT_NE(told({{"units", text("days since 1850-01-01")}}).find("no calendar in this one"),
            std::string::npos);
  EXPECT_NE(told({{"units", text("hours since 2000-01-01")}, {"calendar", text("noleap")}}), "");
  EXPECT_EQ(told({{"standard_name", text("time")}}), "");
}

TEST_F(Definitions, PackAllStepsOfAFileInOneWay) {
  for (const Rules& each : {rules::posix, rules::hdf5}) {
    Catalogue catalogue{each, 1, true};
    Event packed;
    packed.what = Event::What::define;
    packed.type = ElementType::int16;
    packed.name = "u";
    catalogue.apply(packed);
    packed.name = "plain";
    catalogue.apply(packed);
    const auto five = numbers(ElementType::int16, 1);
    EXPECT_EQ(attribute(catalogue, 0, "scale_factor", real(0.5)), "");
    const auto wrong = ErrorCode::invalid_argument;
    for (const char* name : {"_FillValue", "missing_value"}) {
      EXPECT_NE(attribute(catalogue, 0, name, five, 1, wrong), "");
      EXPECT_EQ(attribute(catalogue, 1, name, five, 1, wrong), "");
    }
    EXPECT_NE(attribute(catalogue, 1, "_Unsigned", text("true"), 1, wrong), "");
  }
}

TEST_F(Definitions, FitIntoTheHeader) {
  Catalogue catalogue{rules::pnetcdf, 1, true};
  define(catalogue, "u", {5});
  const Attribute large = text(std::string(200'000, 'x'));
  EXPECT_FALSE(catalogue.comes_before_puts(event(-1, "one", large)));
  EXPECT_EQ(attribute(catalogue, -1, "one", large), "");
  EXPECT_TRUE(catalogue.comes_before_puts(event(-1, "two", large)));
  EXPECT_NE(attribute(catalogue, -1, "two", large, 1), "");
  EXPECT_EQ(attribute(catalogue, -1, "one", text("short"), 1), "");  // in its place
  EXPECT_EQ(attribute(catalogue, -1, "two", large, 1), "");
  Catalogue from_the_beginning{rules::pnetcdf, 1, true};
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_EQ(attribute(from_the_beginning, -1, name, large), "");
  }
  EXPECT_EQ(attribute(from_the_beginning, -1, "four", large, 1), "");  // there is twice the room
  Catalogue hdf5{rules::hdf5, 1, true};
  EXPECT_FALSE(hdf5.comes_before_puts(event(-1, "one", text(std::string(3'000'000, 'x')))));
}

TEST_F(Definitions, OfMoreBytesThanFilesHaveAreRefused) {
  for (const Rules& each : rules::all) {
    Catalogue catalogue{each, 1, true};
    EXPECT_NE(define(catalogue, "u", {std::int64_t{1} << 60, 2}, 0, ErrorCode::invalid_argument),
              "");
    EXPECT_EQ(define(catalogue, "v", {std::int64_t{1} << 50}), "");
  }
}

}  // namespace
}  // namespace iocomp::contents
