// SPDX-License-Identifier: BSD-3-Clause
#include "commit/read_manifest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/path.h"
#include "commit/commit.h"
#include "formats/format.h"
#include "unit/commit/unsealed.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

using array::ElementType;

template <typename T>
contents::Attribute attribute_of(ElementType type, const std::vector<T>& values) {
  contents::Attribute made;
  made.type = type;
  made.values.resize(values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(made.values.data(), values.data(), made.values.size());
  }
  return made;
}

contents::Placed placed(std::int64_t step, int id, const std::string& name, ElementType type,
                        const std::vector<std::int64_t>& extents, std::int64_t offset) {
  return {step,
          {id, name, type, array::make_shape(static_cast<int>(extents.size()), extents.data())},
          offset};
}

std::string written(const ManifestHead& head, const contents::Description& description) {
  const TemporaryFolder folder;
  const TargetNames names = target_names(Path{folder / "fields.bin"}, -1, "node-1");
  write_manifest(names, head, description);
  return text_of(names.manifest.text());
}

Manifest read_again(const ManifestHead& head, const contents::Description& description) {
  return parse_manifest(written(head, description), "fields.bin.json");
}

// Without the checksum that would tell it.
std::string with(std::string text, const std::string& old, const std::string& now) {
  text = unsealed(std::move(text));
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old << " in " << text;
  return text.replace(at, old.size(), now);
}

struct Refusal {
  ErrorCode code;
  std::string story;
};

Refusal refusal(const std::string& text) {
  try {
    (void)parse_manifest(text, "out/fields.bin.json");
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ErrorCode::ok, "no error"};
}

TEST(ReadManifest, GivesBackWhatWasWritten) {
  contents::Description description;
  description.contents = {
      placed(2, 0, "u", ElementType::float64, {4, 5}, 0),
      placed(2, 1, "deep/t", ElementType::complex64, {}, 4096),
      placed(4, 0, "u", ElementType::float64, {0, 5}, std::int64_t{1} << 53 | 1)};
  description.of_variable = {{}, {{"range", attribute_of<float>(ElementType::float32, {0.1F, 2})}}};
  const Manifest manifest =
      read_again({"fields", "posix", "series", 2, 4, {3, 5}, 123456789012345}, description);
  EXPECT_EQ(manifest.format, "posix");
  EXPECT_EQ(manifest.bytes, 123456789012345);
  const contents::Inventory& inventory = manifest.inventory;
  EXPECT_EQ(inventory.steps, (std::vector<std::int64_t>{2, 4}));
  ASSERT_EQ(inventory.contents.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const contents::Placed& was = description.contents[i];
    const contents::Placed& is = inventory.contents[i];
    EXPECT_EQ(is.step, was.step);
    EXPECT_EQ(is.variable.id, was.variable.id);
    EXPECT_EQ(is.variable.name, was.variable.name);
    EXPECT_EQ(is.variable.type, was.variable.type);
    EXPECT_EQ(is.variable.shape, was.variable.shape);
    EXPECT_EQ(is.offset, was.offset);
  }
  EXPECT_EQ(inventory.of_variable.at("deep/t"), description.of_variable[1]);
  EXPECT_FALSE(inventory.of_variable.contains("u"));
}

// Wherever something is wrong: at each place that is cut off, changed, or of another type.
TEST(ReadManifest, RefusesInWordsForUsers) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {4, 5}, 0),
                          placed(2, 0, "u", ElementType::float64, {4, 5}, 4096)};
  const std::string good =
      unsealed(written({"fields", "posix", "series", 0, 3, {1}, 4256}, description));
  EXPECT_EQ(refusal(good).code, ErrorCode::ok) << refusal(good).story;
  int refused = 0;
  const auto check = [&refused](const std::string& text) {
    const Refusal refusal = iocomp::commit::refusal(text);
    refused += refusal.code == ErrorCode::ok ? 0 : 1;
    for (const char* foreign : {"json.", "stoi", "stol", "exception", "std::"}) {
      EXPECT_EQ(refusal.story.find(foreign), std::string::npos) << refusal.story << '\n' << text;
    }
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    check(good.substr(0, at));
    for (const char* other : {"\"", "x", "{", "-", "null", "1e999", "99999999999999999999"}) {
      check(std::string{good}.replace(at, 1, other));
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(ReadManifest, GivesBackAttributesBitForBit) {
  using Limits = std::numeric_limits<std::int64_t>;
  const double infinity = std::numeric_limits<double>::infinity();
  contents::Attributes all;
  all["int8"] = attribute_of<std::int8_t>(ElementType::int8, {-128, 127});
  all["int16"] = attribute_of<std::int16_t>(ElementType::int16, {-32768});
  all["int32"] = attribute_of<std::int32_t>(ElementType::int32, {});
  all["int64"] = attribute_of<std::int64_t>(ElementType::int64, {Limits::min(), Limits::max()});
  all["uint8"] = attribute_of<std::uint8_t>(ElementType::uint8, {255});
  all["uint16"] = attribute_of<std::uint16_t>(ElementType::uint16, {65535});
  all["uint32"] = attribute_of<std::uint32_t>(ElementType::uint32, {~0U});
  all["uint64"] = attribute_of<std::uint64_t>(ElementType::uint64, {~std::uint64_t{0}});
  std::vector<std::uint16_t> halves;
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    if ((bits & 0x7c00U) != 0x7c00U || (bits & 0x3ffU) == 0) {  // all but those that are no number
      halves.push_back(static_cast<std::uint16_t>(bits));
    }
  }
  all["float16"] = attribute_of(ElementType::float16, halves);
  all["float32"] = attribute_of<float>(ElementType::float32, {0.1F, -0.0F, 1e-45F});
  all["float64"] =
      attribute_of<double>(ElementType::float64, {0.1, -0.0, 1e300, 5e-324, infinity, -infinity});
  all["complex64"] = attribute_of<float>(ElementType::complex64, {0.1F, -2});
  all["complex128"] = attribute_of<double>(ElementType::complex128, {1.0 / 3, infinity, 3, 4});
  all["text"] = attribute_of<char>(ElementType::uint8, {'a', '"', '\n'});
  all["text"].is_text = true;
  all["texts"] = contents::list_attribute(std::vector<std::string>{"a", "", "gr\xfc\xdf"});
  contents::Description description;
  description.attributes = all;
  const contents::Attributes back = read_again({}, description).inventory.attributes;
  EXPECT_EQ(back.size(), all.size());
  for (const auto& [name, attribute] : all) {
    EXPECT_EQ(back.at(name), attribute) << name;
  }
}

TEST(ReadManifest, KnowsWhatIsNoNumber) {
  contents::Description description;
  description.attributes["a"] = attribute_of<double>(ElementType::float64, {std::nan("")});
  const auto back = read_again({}, description).inventory.attributes.at("a");
  double value = 0;
  std::memcpy(&value, back.values.data(), sizeof value);
  EXPECT_TRUE(std::isnan(value));
}

TEST(ReadManifest, ReadsStepsThatShareALine) {
  contents::Description description;
  for (const std::int64_t step : {2, 3, 4, 6, 7}) {
    description.contents.push_back(placed(step, 0, "u", ElementType::float64, {2}, 16 * step));
    description.contents.push_back(placed(step, 1, "library", ElementType::int32, {}, -1));
    description.names[step] = {.number = step + 5, .time = 0.25 * static_cast<double>(step)};
  }
  const auto text = written({"f", "posix", "series", 2, 6, {5}, 128}, description);
  EXPECT_NE(text.find("\"count\":3"), std::string::npos) << text;
  const auto inventory = parse_manifest(text, "m").inventory;
  EXPECT_EQ(inventory.steps, (std::vector<std::int64_t>{2, 3, 4, 6, 7}));
  ASSERT_EQ(inventory.contents.size(), description.contents.size());
  for (std::size_t i = 0; i < inventory.contents.size(); ++i) {
    EXPECT_EQ(inventory.contents[i].step, description.contents[i].step);
    EXPECT_EQ(inventory.contents[i].offset, description.contents[i].offset);
    EXPECT_EQ(inventory.contents[i].variable.name, description.contents[i].variable.name);
  }
  for (const auto& [step, name] : description.names) {
    EXPECT_EQ(inventory.name_of(step).number, name.number);
    EXPECT_EQ(inventory.name_of(step).time, name.time);
  }
}

// The manifest is of a file that is being replaced.
TEST(ReadManifest, TellsOfEveryBitThatWasChanged) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {4}, 0)};
  description.names[0] = {7, 0.5};
  description.attributes["a"] = attribute_of(ElementType::int32, std::vector<std::int32_t>{1, 2});
  ManifestHead head{"f", "posix", "series", 0, 1, {}, 32};
  head.replaced = written({"f", "posix", "series", 0, 1, {}, 32}, description);
  const auto whole = written(head, description);
  const auto key = whole.rfind("\"xxh3\"");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const bool is_in_key = i > key && i < key + 5;  // without its name it is no checksum
    for (int bit = 0; bit < 8 && !is_in_key; ++bit) {
      auto changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_NE(refusal(changed).code, ErrorCode::ok) << changed;
    }
  }
}

// An earlier release has written this.
TEST(ReadManifest, ReadsVersion1) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {4}, 0)};
  const auto text = with(written({"f", "posix", "series", 0, 1, {}, 32}, description),
                         "\"iocomp_manifest\": 2", "\"iocomp_manifest\": 1");
  EXPECT_EQ(parse_manifest(text, "m").inventory.contents.size(), 1U);
}

TEST(ReadManifest, RefusesALaterRelease) {
  const auto text = with(written({}, {}), "\"iocomp_manifest\": 2", "\"iocomp_manifest\": 3");
  EXPECT_EQ(refusal(text).code, ErrorCode::unsupported);
  EXPECT_EQ(refusal(text).story,
            "cannot read the manifest out/fields.bin.json: it is of a later release of iocomp: it "
            "has version 3, this release reads up to version 2");
}

TEST(ReadManifest, RefusesTheOtherByteOrder) {
  const auto text = with(written({}, {}), "\"little\"", "\"big\"");
  EXPECT_EQ(refusal(text).code, ErrorCode::unsupported);
  EXPECT_NE(refusal(text).story.find("byte order"), std::string::npos);
}

TEST(ReadManifest, RefusesTypesThatItDoesNotKnow) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {4}, 0)};
  const auto text =
      with(written({"f", "posix", "series", 0, 1, {}, 32}, description), "float64", "decimal7");
  EXPECT_EQ(refusal(text).code, ErrorCode::unsupported);
  EXPECT_NE(refusal(text).story.find("\"u\" has the type \"decimal7\""), std::string::npos);
}

TEST(ReadManifest, RefusesAttributesOfTypesThatItDoesNotKnow) {
  contents::Description description;
  description.attributes["range"] = attribute_of<float>(ElementType::float32, {0.5F});
  const auto text = written({"fields", "posix", "series", 0, 0, {}, 0}, description);
  const Refusal refused = refusal(with(text, "\"float32\"", "\"float128\""));
  EXPECT_EQ(refused.code, ErrorCode::unsupported);
  EXPECT_NE(refused.story.find("an attribute of the type \"float128\""), std::string::npos)
      << refused.story;
}

TEST(ReadManifest, GivesBackNumbersOfStepsWithoutATime) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {4}, 0)};
  description.names[0] = {.number = 7};
  const Manifest manifest = read_again({"fields", "posix", "series", 0, 1, {}, 32}, description);
  EXPECT_EQ(manifest.inventory.name_of(0).number, 7);
  EXPECT_TRUE(std::isnan(manifest.inventory.name_of(0).time));
}

TEST(ReadManifest, RefusesWhatIsNoManifest) {
  const std::string whole = written({}, {});
  for (const std::string& text :
       {std::string{}, std::string{"no json"}, std::string{"[1, 2]"}, std::string{"{}"},
        whole.substr(0, whole.size() / 2), with(whole, "\"steps\": []", "\"steps\": 7")}) {
    EXPECT_EQ(refusal(text).code, ErrorCode::storage_failure) << text;
    EXPECT_TRUE(refusal(text).story.starts_with("cannot read the manifest out/fields.bin.json: "))
        << refusal(text).story;
  }
}

TEST(ReadManifest, RefusesWhatContradictsItself) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {4}, 0)};
  const auto text = written({"f", "posix", "series", 0, 1, {}, 32}, description);
  EXPECT_EQ(refusal(with(text, "\"absent\": []", "\"absent\": [0]")).code,
            ErrorCode::storage_failure);
  EXPECT_EQ(refusal(with(text, "[4]", "[-4]")).code, ErrorCode::storage_failure);
}

std::string one_variable(std::int64_t offset) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {4}, offset)};
  return written({"f", "posix", "series", 0, 1, {}, 32}, description);
}

void expect_refusal(const std::string& text) {
  EXPECT_EQ(refusal(text).code, ErrorCode::storage_failure) << text;
}

TEST(ReadManifest, RefusesStepsThatNoFileCanHave) {
  const auto text = one_variable(0);
  expect_refusal(with(text, "\"committed_steps\": 1", "\"committed_steps\": 900000000000000000"));
  expect_refusal(with(text, "\"committed_steps\": 1", "\"committed_steps\": -1"));
  expect_refusal(with(text, "\"first_step\": 0", "\"first_step\": 9223372036854775807"));
  expect_refusal(with(text, "\"first_step\": 0", "\"first_step\": -1"));
}

TEST(ReadManifest, RefusesVariablesOutsideTheFile) {
  EXPECT_EQ(refusal(one_variable(0)).code, ErrorCode::ok);
  EXPECT_EQ(refusal(one_variable(-1)).code, ErrorCode::ok);
  expect_refusal(one_variable(8));
  expect_refusal(one_variable(-2));
  expect_refusal(with(one_variable(0), "\"bytes\": 32", "\"bytes\": -1"));
  expect_refusal(with(one_variable(0), "[4]", "[2305843009213693952]"));  // 2^64 bytes
}

TEST(ReadManifest, RefusesAVariableTwiceInAStep) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {2}, 0),
                          placed(0, 1, "v", ElementType::float64, {2}, 16)};
  expect_refusal(
      with(written({"f", "posix", "series", 0, 1, {}, 32}, description), "\"v\"", "\"u\""));
}

TEST(ReadManifest, RefusesStepsOfALineThatCannotBe) {
  contents::Description description;
  for (std::int64_t step = 0; step < 3; ++step) {
    description.contents.push_back(placed(step, 0, "u", ElementType::float64, {4}, 32 * step));
    description.names[step] = {.number = step + 1, .time = 0.5};
  }
  const auto text = written({"f", "posix", "series", 0, 3, {}, 96}, description);
  EXPECT_EQ(refusal(text).code, ErrorCode::ok) << refusal(text).story;
  for (const char* count : {"0", "-1", "4", "9223372036854775807", "3.0"}) {
    expect_refusal(with(text, "\"count\":3", std::string{"\"count\":"} + count));
  }
  for (const char* advance : {"33", "-32", "9223372036854775807"}) {
    expect_refusal(with(text, "\"advance\":32", std::string{"\"advance\":"} + advance));
  }
  expect_refusal(with(text, ",\"advance\":32", ""));
  expect_refusal(with(text, "[0.5,0.5,0.5]", "[0.5,0.5]"));
  expect_refusal(with(text, "[0.5,0.5,0.5]", "0.5"));
  expect_refusal(with(text, "\"number\":1", "\"number\":9223372036854775806"));
  expect_refusal(with(text, "\"absent\": []", "\"absent\": [1]"));
  // Steps that cost the file nothing are not without number.
  const auto many = with(with(text, "\"count\":3", "\"count\":90000000"), "\"committed_steps\": 3",
                         "\"committed_steps\": 90000000");
  expect_refusal(with(with(many, "\"offset\":0,\"advance\":32", "\"offset\":-1"),
                      ",\"time\":[0.5,0.5,0.5]", ""));
}

TEST(ReadManifest, RefusesAStepTwice) {
  const auto text = one_variable(0);
  const auto first = text.find("{\"step\":0");
  const auto line = text.substr(first, text.find("]}", text.find("offset")) + 2 - first);
  expect_refusal(with(text, line, line + "," + line));
}

std::string with_sums(const std::vector<contents::BlockSum>& sums) {
  contents::Description description;
  description.contents = {placed(0, 0, "u", ElementType::float64, {4, 6}, 0),
                          placed(0, 1, "s", ElementType::int32, {}, 192)};
  description.contents[0].sums = std::make_shared<const std::vector<contents::BlockSum>>(sums);
  description.contents[1].sums = std::make_shared<const std::vector<contents::BlockSum>>(
      std::vector<contents::BlockSum>{{{}, 1}});
  return written({"f", "posix", "checkpoint", 0, 1, {}, 196}, description);
}

const std::vector<contents::BlockSum> two_sums{
    {{.dimensions = 2, .start = {0, 0}, .count = {2, 6}}, 0x0123456789abcdefU},
    {{.dimensions = 2, .start = {2, 0}, .count = {2, 3}}, ~std::uint64_t{0}}};

TEST(ReadManifest, GivesBackChecksumsOfBlocks) {
  const auto text = with_sums(two_sums);
  EXPECT_NE(text.find(R"("offset":0,"xxh3":[[[0,0],[2,6],"0123456789abcdef"],)"
                      R"([[2,0],[2,3],"ffffffffffffffff"]]})"),
            std::string::npos)
      << text;
  const Manifest manifest = parse_manifest(text, "m");
  ASSERT_EQ(manifest.inventory.contents.size(), 2U);
  EXPECT_EQ(*manifest.inventory.contents[0].sums, two_sums);
  ASSERT_EQ(manifest.inventory.contents[1].sums->size(), 1U);
  EXPECT_EQ(manifest.inventory.contents[1].sums->front().checksum, 1U);
}

TEST(ReadManifest, OfAnEarlierReleaseHasNoChecksums) {
  EXPECT_EQ(parse_manifest(one_variable(0), "m").inventory.contents.front().sums, nullptr);
}

TEST(ReadManifest, RefusesChecksumsOfWhatIsNoBlock) {
  const auto text = with_sums(two_sums);
  expect_refusal(with(text, "0123456789abcdef", "0123456789abcde"));
  expect_refusal(with(text, "0123456789abcdef", "0123456789abcdeg"));
  expect_refusal(with(text, "[2,0],[2,3]", "[2,0],[2]"));
  expect_refusal(with(text, "[2,0],[2,3]", "[3,0],[2,3]"));
  expect_refusal(with(text, "[2,0],[2,3]", "[2,0],[2,-3]"));
  expect_refusal(with(text, "[[2,0],[2,3],\"ffffffffffffffff\"]", "7"));
  expect_refusal(with(text, "[2,0],[2,3]", "[0,0],[4,6]"));  // more than there is
}

// JSON has one kind of number: what is not of the type is refused, not converted.
TEST(ReadManifest, RefusesNumbersThatAreNotOfTheirType) {
  for (const char* number : {"32.5", "1e30", "true", "\"32\"", "18446744073709551615"}) {
    expect_refusal(with(one_variable(0), "\"bytes\": 32", std::string{"\"bytes\": "} + number));
  }
  const auto with_attribute = [](const std::string& type, const std::string& value) {
    return with(written({}, {}), "\"attributes\": {}",
                R"("attributes": {"a": {"type": ")" + type + R"(", "value": )" + value + "}}");
  };
  EXPECT_EQ(refusal(with_attribute("int8", "[127]")).code, ErrorCode::ok);
  expect_refusal(with_attribute("int8", "[128]"));
  expect_refusal(with_attribute("int8", "[1.0]"));
  expect_refusal(with_attribute("uint64", "[-1]"));
  expect_refusal(with_attribute("int32", "7"));
  expect_refusal(with_attribute("float64", "[\"many\"]"));
  expect_refusal(with_attribute("float64", "[true]"));
  expect_refusal(with_attribute("float32", "[1e300]"));
  expect_refusal(with_attribute("float16", "[65520]"));
  expect_refusal(with_attribute("complex64", "[[1, 2, 3]]"));
  expect_refusal(with(written({}, {}), "\"attributes\": {}", "\"attributes\": []"));
}

TEST(ReadManifest, RoundsWhatA16BitNumberDoesNotHold) {
  const auto text = with(written({}, {}), "\"attributes\": {}",
                         R"("attributes": {"a": {"type": "float16", "value": [2047.9, 2048]}})");
  const auto values = parse_manifest(text, "m").inventory.attributes.at("a").values;
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(values[0], values[2]);
  EXPECT_EQ(values[1], values[3]);
}

}  // namespace
}  // namespace iocomp::commit
