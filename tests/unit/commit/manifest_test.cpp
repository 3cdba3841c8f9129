// SPDX-License-Identifier: BSD-3-Clause
#include "commit/manifest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/json_values.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "formats/registry.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

using array::ElementType;

template <typename T>
contents::Attribute attribute(ElementType type, const std::vector<T>& values) {
  contents::Attribute made;
  made.type = type;
  made.values.resize(values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(made.values.data(), values.data(), made.values.size());
  }
  return made;
}

contents::Attribute text(const std::string& value) {
  contents::Attribute made =
      attribute(ElementType::uint8, std::vector<char>(value.begin(), value.end()));
  made.is_text = true;
  return made;
}

contents::Variable variable(int id, const std::string& name, std::vector<std::int64_t> shape) {
  return {id, name, ElementType::float32,
          array::make_shape(static_cast<int>(shape.size()), shape.data())};
}

class WrittenManifest : public testing::Test {
 protected:
  nlohmann::json written(const ManifestHead& head, const contents::Description& description) {
    const TargetNames names = target_names(Path{folder_ / "fields.bin"}, -1, "node-1");
    write_manifest(names, head, description);
    EXPECT_EQ(files_in(folder_ / ""), 1);
    return nlohmann::json::parse(text_of(names.manifest.text()));
  }
  nlohmann::json written(const contents::Attribute& value) {
    contents::Description description;
    description.attributes["a"] = value;
    return written({}, description)["attributes"]["a"]["value"];
  }

  TemporaryFolder folder_;
};

TEST_F(WrittenManifest, TellsWhatTheFileIs) {
  const auto json = written({"fields", "posix", "series", 0, 12, {3, 7}, 123456789012345}, {});
  EXPECT_EQ(json["iocomp_manifest"], 2);
  EXPECT_EQ(json["name"], "fields");
  EXPECT_EQ(json["format"], "posix");
  EXPECT_EQ(json["kind"], "series");
  EXPECT_EQ(json["file"], "fields.bin");
  EXPECT_EQ(json["bytes"], 123456789012345);
  EXPECT_EQ(json["byte_order"], "little");
  EXPECT_EQ(json["committed_steps"], 12);
  EXPECT_EQ(json["absent"], (std::vector<int>{3, 7}));
  EXPECT_EQ(json["steps"], nlohmann::json::array());
}

TEST_F(WrittenManifest, TellsWhereEachVariableOfEachStepLies) {
  contents::Description description;
  description.contents = {{0, variable(0, "u", {4, 5}), 0},
                          {0, variable(1, "t", {}), 4096},
                          {2, variable(0, "u", {0, 5}), std::int64_t{1} << 53 | 1}};
  description.of_variable = {{}, {{"unit", text("K")}}};
  const auto json = written({}, description);
  ASSERT_EQ(json["steps"].size(), 2U);
  EXPECT_EQ(json["steps"][0]["step"], 0);
  EXPECT_EQ(json["steps"][0]["variables"][0],
            (nlohmann::json{{"name", "u"}, {"type", "float32"}, {"shape", {4, 5}}, {"offset", 0}}));
  EXPECT_EQ(json["steps"][0]["variables"][1]["shape"], nlohmann::json::array());
  EXPECT_EQ(json["steps"][1]["step"], 2);
  EXPECT_EQ(json["steps"][1]["variables"][0]["offset"], std::int64_t{1} << 53 | 1);
  EXPECT_EQ(json["variable_attributes"],
            (nlohmann::json{{"t", {{"unit", {{"type", "text"}, {"value", "K"}}}}}}));
}

TEST_F(WrittenManifest, StepsThatDifferInNothingButTheirPlacesShareALine) {
  contents::Description description;
  for (std::int64_t step = 3; step < 1000; ++step) {
    description.contents.push_back({step, variable(0, "u", {4}), 16 * step + (step < 900 ? 0 : 8)});
    description.contents.push_back({step, variable(1, "kept by the library", {}), -1});
    description.names[step] = {.number = step + 10, .time = step < 500 ? NAN : 0.5};
  }
  const auto json = written({}, description);
  // A time is told from step 500 on, at most 256 in a line; from step 900 on u lies elsewhere.
  std::vector<std::vector<int>> lines;
  for (const auto& line : json["steps"]) {
    lines.push_back({line["step"], line["count"], line["number"], line["variables"][0]["offset"],
                     line["variables"][0]["advance"]});
    EXPECT_EQ(line.contains("time"), line["step"] >= 500);
    EXPECT_FALSE(line["variables"][1].contains("advance"));
  }
  EXPECT_EQ(lines, (std::vector<std::vector<int>>{{3, 497, 13, 48, 16},
                                                  {500, 256, 510, 8000, 16},
                                                  {756, 144, 766, 12096, 16},
                                                  {900, 100, 910, 14408, 16}}));
  EXPECT_EQ(json["steps"][3]["time"], std::vector<double>(100, 0.5));
}

// Readers have the simplest case of the checksum alone.
TEST_F(WrittenManifest, ALineIsLongEnoughForItsChecksum) {
  constexpr std::size_t least = 129;
  const std::string line = manifest_line({}, "{\"count\":1}", {});
  EXPECT_GE(line.find(",\"xxh3\""), least) << line;
  EXPECT_NE(line.find(",\"xxh3\""), std::string::npos);
}

TEST_F(WrittenManifest, IntegersAreExact) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(written(attribute<std::int64_t>(ElementType::int64, {Limits::min(), Limits::max()})),
            (std::vector<std::int64_t>{Limits::min(), Limits::max()}));
  EXPECT_EQ(written(attribute<std::uint64_t>(ElementType::uint64, {~std::uint64_t{0}}))[0]
                .get<std::uint64_t>(),
            ~std::uint64_t{0});
  EXPECT_EQ(written(attribute<std::int8_t>(ElementType::int8, {-128, 127})),
            (std::vector<int>{-128, 127}));
  EXPECT_EQ(written(attribute<std::uint8_t>(ElementType::uint8, {255})), std::vector<int>{255});
}

TEST_F(WrittenManifest, FloatingPointNumbersComeBackAsTheyWere) {
  const std::vector<double> values{0.1, -0.0, 1e300, 5e-324, 1.0 / 3.0, 4.0};
  const auto json = written(attribute(ElementType::float64, values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(json[i].get<double>(), values[i]);
  }
  EXPECT_TRUE(std::signbit(json[1].get<double>()));
  EXPECT_EQ(written(attribute<float>(ElementType::float32, {0.1F}))[0].get<float>(), 0.1F);
  EXPECT_EQ(
      written(attribute<std::uint16_t>(ElementType::float16, {0x3c00, 0xc100, 0x0001, 0x7bff})),
      (std::vector<double>{1.0, -2.5, std::ldexp(1.0, -24), 65504.0}));
}

TEST_F(WrittenManifest, WhatJsonHasNoNumberForIsText) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(written(attribute<double>(ElementType::float64, {std::nan(""), infinity, -infinity})),
            (std::vector<std::string>{"NaN", "Infinity", "-Infinity"}));
  EXPECT_EQ(written(attribute<std::uint16_t>(ElementType::float16, {0x7e00, 0xfc00})),
            (std::vector<std::string>{"NaN", "-Infinity"}));
}

TEST_F(WrittenManifest, ComplexNumbersArePairs) {
  EXPECT_EQ(written(attribute<double>(ElementType::complex128, {1.5, -2.0, 0.0, 3.0})),
            (std::vector<std::vector<double>>{{1.5, -2.0}, {0.0, 3.0}}));
}

TEST_F(WrittenManifest, TextStaysText) {
  EXPECT_EQ(written(text("größer \"als\"\n")), "größer \"als\"\n");
  EXPECT_EQ(written(text("")), "");
}

TEST_F(WrittenManifest, BytesThatAreNoTextAreKept) {
  const contents::Attributes attributes{{"a", text("\xff\xfe 1")}};
  EXPECT_EQ(json(attributes)["a"]["bytes"], "fffe2031");
  EXPECT_EQ(attributes_from(json(attributes)), attributes);
  for (const char* bad : {"f", "fg", "+1"}) {
    const Json described{{"a", {{"type", "text"}, {"bytes", bad}}}};
    EXPECT_THROW(static_cast<void>(attributes_from(described)), Error) << bad;
  }
}

TEST_F(WrittenManifest, AnAttributeWithoutValuesIsAnEmptyList) {
  EXPECT_EQ(written(attribute<double>(ElementType::float64, {})), nlohmann::json::array());
}

TEST_F(WrittenManifest, OfASeriesIsThatOfAllStepsHoweverTheyWereCommitted) {
  const std::string path = folder_ / "series.bin";
  const formats::Format& posix = formats::format("posix");
  Publication::Identity identity{.name = "series",
                                 .path = path,
                                 .job = "node-1",
                                 .held = std::make_shared<const OpenFolder>(folder_ / "")};
  contents::Catalogue catalogue{posix.traits().rules, 1, true};
  contents::Event define;
  define.what = contents::Event::What::define;
  define.name = "u";
  define.shape = variable(0, "u", {4}).shape;
  catalogue.apply(define);
  define.name = "v";
  catalogue.apply(define);
  contents::Contents contents;
  Publication publication{identity, posix, &catalogue};
  write_text(publication.names(-1).temporary.text(), "data");
  const auto put = [&](std::int64_t step) {
    contents.add(step, static_cast<int>(step % 2), catalogue.layout().offset(0, step));
  };
  put(0);
  put(1);
  publication.commit_step(1, contents, catalogue)();  // two at once
  put(2);
  (void)publication.commit_step(2, contents, catalogue);
  contents.remove_step(2);  // it failed after all
  publication.drop_step(2)();
  put(3);
  publication.commit_step(3, contents, catalogue)();
  contents::Event units;
  units.what = contents::Event::What::attribute;
  units.step = 4;
  units.variable = 0;
  units.name = "units";
  units.attribute = text("m");
  catalogue.apply(units);
  put(4);
  publication.commit_step(4, contents, catalogue)();
  const std::string manifest = publication.names(-1).manifest.text();
  const std::string found = text_of(manifest);

  Publication at_once{identity, posix, &catalogue};
  (void)at_once.drop_step(2);
  at_once.go_on_after(4, {2}, true);
  at_once.commit_step(4, contents, catalogue)();
  EXPECT_EQ(found, text_of(manifest));
  const auto json = nlohmann::json::parse(found);
  EXPECT_EQ(json["steps"].size(), 4);
  EXPECT_EQ(json["steps"][2]["step"], 3);
  EXPECT_EQ(json["absent"], std::vector<int>{2});
  EXPECT_EQ(json["variable_attributes"]["u"]["units"]["value"], "m");
}

}  // namespace
}  // namespace iocomp::commit
