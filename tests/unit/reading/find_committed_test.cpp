// SPDX-License-Identifier: BSD-3-Clause
#include "reading/find_committed.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "base/wire.h"
#include "commit/commit.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "reading/committed.h"
#include "reading/path_sought.h"
#include "unit/temporary_folder.h"

namespace iocomp::reading {
namespace {

contents::Variable variable(int id, const std::string& name) {
  const std::int64_t extent = 4;
  return {id, name, array::ElementType::float64, array::make_shape(1, &extent)};
}

contents::Attribute text(const std::string& value) {
  contents::Attribute made;
  made.is_text = true;
  for (const char character : value) {
    made.values.push_back(static_cast<std::byte>(character));
  }
  return made;
}

class FindCommitted : public testing::Test {
 protected:
  // A checkpoint of 32 bytes with the variables "u" and, in odd steps, "v".
  void write_checkpoint(std::int64_t step) {
    const commit::TargetNames names = commit::target_names(Path{path_}, step, "node-1");
    contents::Description description;
    description.contents = {{step, variable(0, "u"), 0}};
    if (step % 2 == 1) {
      description.contents.push_back({step, variable(1, "v"), 0});
    }
    description.attributes["step"] = text(std::to_string(step));
    description.of_variable = {{{"of", text("u" + std::to_string(step))}}, {}};
    write_text(names.target.text(), std::string(32, 'x'));
    write_manifest(names, {"data", "posix", "checkpoint", step, 1, {}, 32}, description);
  }
  void write_series() {
    const commit::TargetNames names = commit::target_names(Path{path_}, -1, "node-1");
    write_text(names.target.text(), std::string(64, 'x'));
    write_manifest(names, {"data", "posix", "series", 0, 3, {1}, 64},
                   {{{0, variable(0, "u"), 0}, {2, variable(0, "u"), 32}}, {}, {}});
  }
  [[nodiscard]] Committed find(Sought::Kind kind = Sought::Kind::either) const {
    return find_committed({"data", path_, "posix", {}, kind});
  }
  // Code and story of a failure.
  std::pair<ErrorCode, std::string> failure(Sought::Kind kind = Sought::Kind::either) const {
    try {
      (void)find(kind);
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
    return {ErrorCode::ok, {}};
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "data.bin";
};

std::vector<std::int64_t> numbers(const Committed& committed) {
  std::vector<std::int64_t> steps;
  for (const auto& step : committed.steps) {
    steps.push_back(step.number);
  }
  return steps;
}

// "data.19900101.bin" may be a series of its own, or a file of another program.
TEST_F(FindCommitted, AFileThatIsCalledLikeAStepIsNone) {
  const auto write_dated = [this](std::int64_t steps) {
    const commit::TargetNames names = commit::target_names(Path{path_}, 19900101, "node-1");
    contents::Description description;
    for (std::int64_t step = 0; step < steps; ++step) {
      description.contents.push_back({step, variable(0, "u"), 32 * step});
    }
    write_text(names.target.text(), std::string(64, 'x'));
    write_manifest(names, {"dated", "posix", "series", 0, steps, {}, 64}, description);
  };
  for (const std::int64_t steps : {1, 2}) {
    write_dated(steps);
    EXPECT_EQ(failure().first, ErrorCode::not_found);
  }
  write_checkpoint(3);
  EXPECT_EQ(numbers(find()), (std::vector<std::int64_t>{3}));
  EXPECT_TRUE(find().torn.empty());
  write_text(folder_ / "data.000300.bin", std::string(64, 'x'));
  EXPECT_EQ(numbers(find()), (std::vector<std::int64_t>{3}));
  ASSERT_EQ(::unlink((folder_ / "data.000003.bin").c_str()), 0);
  ASSERT_EQ(::unlink((folder_ / "data.000300.bin").c_str()), 0);
  write_series();
  EXPECT_EQ(numbers(find()), (std::vector<std::int64_t>{0, 2}));  // not "there twice"
}

TEST_F(FindCommitted, ASeriesIsOneFile) {
  write_series();
  const Committed found = find();
  ASSERT_EQ(found.files.size(), 1U);
  EXPECT_EQ(found.text(found.files[0]), path_);
  EXPECT_EQ(found.files[0].format, "posix");
  EXPECT_EQ(numbers(found), (std::vector<std::int64_t>{0, 2}));
  ASSERT_EQ(found.variables.size(), 1U);
  EXPECT_EQ(found.variables[0].places.size(), 2U);
  EXPECT_EQ(found.variables[0].places[1].offset, 32);
}

TEST_F(FindCommitted, CheckpointsAreOneFileForEachStep) {
  for (const std::int64_t step : {12, 3, 1234567}) {
    write_checkpoint(step);
  }
  const Committed found = find();
  EXPECT_EQ(numbers(found), (std::vector<std::int64_t>{3, 12, 1234567}));
  EXPECT_EQ(found.text(found.files.at(1)), folder_ / "data.000012.bin");
  EXPECT_EQ(found.steps[1].file, 1);
  ASSERT_EQ(found.variables.size(), 2U);
  EXPECT_EQ(found.variables[0].name, "u");
  EXPECT_EQ(found.variables[0].places.size(), 3U);
  EXPECT_EQ(found.variables[1].name, "v");
  EXPECT_EQ(found.variables[1].places.size(), 2U);
  EXPECT_EQ(found.attributes.at("step"), text("1234567"));
  EXPECT_EQ(found.variables[0].attributes.at("of"), text("u1234567"));
}

TEST_F(FindCommitted, EachFileSaysWhatItsValuesMean) {
  const std::map<std::int64_t, std::string> scales{{1, ""}, {2, "a"}, {3, "a"}, {4, "b"}, {5, ""}};
  for (const auto& [step, scale] : scales) {
    const commit::TargetNames names = commit::target_names(Path{path_}, step, "node-1");
    contents::Description description;
    description.contents = {{step, variable(0, "u"), 0}};
    description.of_variable = {{{"note", text(std::to_string(step))}}};
    if (!scale.empty()) {
      description.of_variable[0][contents::scale_attribute] = text(scale);
    }
    write_text(names.target.text(), std::string(32, 'x'));
    write_manifest(names, {"data", "posix", "checkpoint", step, 1, {}, 32}, description);
  }
  const Committed found = find();
  const Committed arrived = decode_committed(encode(found));
  for (const auto* committed : {&found, &arrived}) {
    const auto& u = committed->variables.at(0);
    EXPECT_EQ(u.meaning.size(), 3U) << "it is kept where it changes";
    EXPECT_TRUE(u.changes_meaning());
    for (const auto& [step, scale] : scales) {
      const contents::Attributes expected{{contents::scale_attribute, text(scale)}};
      EXPECT_EQ(u.meaning_in(step), scale.empty() ? contents::Attributes{} : expected) << step;
    }
  }
}

TEST_F(FindCommitted, WhatIsCalledOtherwiseIsNone) {
  write_checkpoint(3);
  for (const char* name :
       {"data.3.bin", "data.00000x.bin", "data.0000003.bin", "data.000004.bin.json",
        "data.000005.h5", ".data.000006.bin.iocomp-node-1", "other.000007.bin",
        "data.-00008.bin"}) {
    write_text(folder_ / name, "x");
  }
  EXPECT_EQ(numbers(find()), std::vector<std::int64_t>{3});
}

TEST_F(FindCommitted, SaysWhatWasLookedFor) {
  const auto [code, story] = failure();
  EXPECT_EQ(code, ErrorCode::not_found);
  EXPECT_EQ(story, "there is no committed file \"data\": no " + path_ + ", nor " +
                       (folder_ / "data.000000.bin") + " and so on");
}

TEST_F(FindCommitted, SaysWhenTheFolderIsMissing) {
  path_ = folder_ / "none/data.bin";
  EXPECT_EQ(failure().first, ErrorCode::not_found);
}

TEST_F(FindCommitted, SaysThatSomethingIsInTheMaking) {
  write_text(folder_ / ".data.000002.bin.iocomp-node-77", "x");
  const auto [code, story] = failure();
  EXPECT_EQ(code, ErrorCode::not_found);
  EXPECT_NE(story.find(".data.000002.bin.iocomp-node-77 is there, of which nothing is committed"),
            std::string::npos)
      << story;
}

// The settings may name another format than those of the last job did.
TEST_F(FindCommitted, SaysWhatIsThereInAnotherFormat) {
  write_checkpoint(3);
  write_checkpoint(7);
  write_text(folder_ / "data.json", "{}");  // somebody's own
  path_ = folder_ / "data.h5";
  log::configure(log::Level::warning, "test");
  for (const auto kind : {Sought::Kind::either, Sought::Kind::file_per_step}) {
    testing::internal::CaptureStderr();
    const auto [code, story] = failure(kind);
    EXPECT_EQ(code, ErrorCode::not_found);
    EXPECT_NE(story.find((folder_ / "data.000007.bin") + " is there, of another format"),
              std::string::npos)
        << story;
    EXPECT_NE(testing::internal::GetCapturedStderr().find(story), std::string::npos);
  }
}

TEST_F(FindCommitted, AsksWhichWhenBothAreThere) {
  write_series();
  write_checkpoint(5);
  EXPECT_EQ(failure().first, ErrorCode::invalid_argument);
  EXPECT_NE(failure().second.find("files.data.kind"), std::string::npos);
  EXPECT_EQ(numbers(find(Sought::Kind::one_file)), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(numbers(find(Sought::Kind::file_per_step)), std::vector<std::int64_t>{5});
}

TEST_F(FindCommitted, ATornFileIsTold) {
  write_series();
  ASSERT_EQ(::truncate(path_.c_str(), 63), 0);
  const auto [code, story] = failure();
  EXPECT_EQ(code, ErrorCode::storage_failure);
  EXPECT_EQ(story, "cannot read " + path_ + ": it is torn: it has 63 bytes, its manifest says 64");
}

TEST_F(FindCommitted, ATornFileAmongCheckpointsIsLeftOut) {
  for (const std::int64_t step : {3, 4, 5, 6}) {
    write_checkpoint(step);
  }
  ASSERT_EQ(::truncate((folder_ / "data.000004.bin").c_str(), 31), 0);
  write_text(folder_ / "data.000006.bin.json", "{\"iocomp_mani");
  const Committed found = find();
  EXPECT_EQ(numbers(found), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(found.attributes.at("step"), text("5"));
  ASSERT_EQ(found.torn.size(), 2U);
  EXPECT_EQ(found.torn[0].step, 4);
  EXPECT_EQ(found.torn[0].story, "cannot read " + (folder_ / "data.000004.bin") +
                                     ": it is torn: it has 31 bytes, its manifest says 32");
  EXPECT_EQ(found.torn[1].step, 6);
  EXPECT_NE(found.torn[1].story.find("data.000006.bin.json"), std::string::npos);
}

TEST_F(FindCommitted, PlainBytesWithoutAManifestAmongCheckpointsAreLeftOut) {
  for (const std::int64_t step : {3, 4}) {
    write_checkpoint(step);
  }
  ASSERT_EQ(::unlink((folder_ / "data.000003.bin.json").c_str()), 0);
  const Committed found = find();
  EXPECT_EQ(numbers(found), std::vector<std::int64_t>{4});
  ASSERT_EQ(found.torn.size(), 1U);
  EXPECT_EQ(found.torn[0].step, 3);
}

TEST_F(FindCommitted, WhereAllCheckpointsAreTornTheNewestIsTold) {
  for (const std::int64_t step : {3, 4}) {
    write_checkpoint(step);
    ASSERT_EQ(::truncate((folder_ / ("data.00000" + std::to_string(step) + ".bin")).c_str(), 31),
              0);
  }
  const auto [code, story] = failure();
  EXPECT_EQ(code, ErrorCode::storage_failure);
  EXPECT_EQ(story, "cannot read " + (folder_ / "data.000004.bin") +
                       ": it is torn: it has 31 bytes, its manifest says 32; nor can the files of "
                       "1 earlier steps be read");
}

TEST_F(FindCommitted, AFileThatHasGrownSinceIsRead) {
  write_series();
  ASSERT_EQ(::truncate(path_.c_str(), 1000), 0);
  EXPECT_EQ(numbers(find()).size(), 2U);
}

TEST_F(FindCommitted, PlainBytesWithoutAManifestCannotBeRead) {
  write_series();
  ASSERT_EQ(::unlink((path_ + ".json").c_str()), 0);
  const auto [code, story] = failure();
  EXPECT_EQ(code, ErrorCode::unsupported);
  EXPECT_NE(story.find("there is no " + path_ + ".json"), std::string::npos) << story;
}

TEST_F(FindCommitted, ACopyUnderTheNumberOfAnotherStepIsLeftOut) {
  for (const char* const number : {"data.000002.bin", "data.000004.bin", "data.000050.bin"}) {
    write_checkpoint(3);
    for (const std::string end : {"", ".json"}) {
      ASSERT_EQ(::rename((folder_ / ("data.000003.bin" + end)).c_str(),
                         (folder_ / (number + end)).c_str()),
                0);
    }
  }
  write_checkpoint(3);
  write_checkpoint(5);
  const Committed found = find();
  EXPECT_EQ(numbers(found), (std::vector<std::int64_t>{3, 5}));
  ASSERT_EQ(found.torn.size(), 3U);
  EXPECT_EQ(found.torn[2].step, 50);
  EXPECT_EQ(found.torn[2].story, "cannot read " + (folder_ / "data.000050.bin") +
                                     ": it is step 3, as its manifest says, and not step 50");
}

TEST_F(FindCommitted, AProgramOfThatNameIsNoFile) {
  write_text(folder_ / "data.py", "x");
  write_text(folder_ / "data.000001.log", "x");
  EXPECT_THROW((void)sought_at(folder_ / "data"), Error);
  write_series();
  EXPECT_EQ(sought_at(folder_ / "data").path, path_);
  EXPECT_EQ(sought_at(folder_ / "data").kind, Sought::Kind::one_file);
  EXPECT_EQ(sought_at(folder_ / "data.py").path, folder_ / "data.py");
  write_text(folder_ / "data.h5", "x");
  write_text(folder_ / "data.h5.json", "x");
  EXPECT_THROW((void)sought_at(folder_ / "data"), Error);
}

TEST_F(FindCommitted, TravelsWhole) {
  write_checkpoint(3);
  write_checkpoint(4);
  write_checkpoint(5);
  ASSERT_EQ(::truncate((folder_ / "data.000005.bin").c_str(), 31), 0);
  const Committed found = find();
  const auto bytes = encode(found);
  const Committed arrived = decode_committed(bytes);
  EXPECT_EQ(encode(arrived), bytes);
  EXPECT_EQ(numbers(arrived), numbers(found));
  EXPECT_EQ(arrived.variables.at(1).places.at(0).shape, variable(1, "v").shape);
  EXPECT_EQ(arrived.attributes, found.attributes);
  ASSERT_EQ(arrived.torn.size(), 1U);
  EXPECT_EQ(arrived.torn[0].step, 5);
  EXPECT_EQ(arrived.torn[0].story, found.torn.at(0).story);
}

// The first bytes say how many files, steps and variables there are; none here.
std::vector<std::byte> with_place(array::ElementType type, std::int8_t dimensions) {
  WireWriter writer;
  writer.put(std::size_t{0});
  writer.put(std::size_t{0});
  writer.put(std::size_t{1});
  writer.put_text("u");
  writer.put(std::size_t{1});
  writer.put(std::int64_t{0});
  writer.put(type);
  writer.put(std::int64_t{0});
  writer.put(dimensions);
  for (int d = 0; d < 9; ++d) {
    writer.put(std::int64_t{1});
  }
  return writer.take();
}

TEST(Committed, OfVariablesThatNobodyHasIsRefused) {
  for (const auto& bytes :
       {with_place(array::ElementType{0}, 1), with_place(array::ElementType::int8, 9),
        with_place(array::ElementType::int8, -1)}) {
    EXPECT_THROW((void)decode_committed(bytes), Error);
  }
}

}  // namespace
}  // namespace iocomp::reading
