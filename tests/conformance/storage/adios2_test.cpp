// SPDX-License-Identifier: BSD-3-Clause
// Tests that only datasets of ADIOS2 need: steps that keep their numbers, attributes that change, a
// folder that gets another name while it is open.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "back_end.h"
#include "base/error.h"
#include "base/path.h"
#include "contents/variable.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "read_adios2.h"
#include "read_back.h"
#include "shared_file.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

using array::ElementType;

template <typename T>
Attribute attribute(ElementType type, const std::vector<T>& values) {
  Attribute made;
  made.type = type;
  made.values.resize(values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(made.values.data(), values.data(), made.values.size());
  }
  return made;
}

Attribute text_attribute(const std::string& text) {
  Attribute made = attribute(ElementType::uint8, std::vector<char>(text.begin(), text.end()));
  made.is_text = true;
  return made;
}

Variable variable(int id, const std::string& name, std::int64_t extent = 10) {
  return {id, name, ElementType::float64, array::make_shape(1, &extent)};
}

std::string story_of(const std::string& engine,
                     std::vector<std::pair<std::string, std::string>> parameters) {
  FormatOptions options;
  options.engine = engine;
  options.hints = std::move(parameters);
  try {
    (void)format("adios2", {}, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_setting);
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Adios2 : public testing::TestWithParam<BackEnd> {
 protected:
  [[nodiscard]] tests::Adios2Dataset read(const std::string& path) const {
    return tests::read_adios2(path, GetParam().engine);
  }
  [[nodiscard]] bool is_folder() const { return !GetParam().format().traits().folder_mark.empty(); }
  // Rank 0 puts a whole variable in a step, which is written.
  static Placed write(SharedFile& file, int id, std::int64_t step) {
    const Placed placed = file.place(id, step);
    if (rank() == 0) {
      file.put(placed, {1, {}, {placed.variable.shape.extent[0]}});
    }
    file.flush();
    return placed;
  }

  SharedFolder folder_;
};

TEST_P(Adios2, AStepThatWasGivenUpIsThereWithoutVariables) {
  SharedFile file{GetParam(), folder_ / "file", {variable(0, "u"), variable(1, "v")}};
  const Placed first = write(file, 0, 0);
  const Placed third = write(file, 1, 2);
  file.finish();
  if (rank() == 0) {
    const auto dataset = read(file.path());
    ASSERT_EQ(dataset.steps.size(), 3U);
    EXPECT_TRUE(dataset.steps[1].empty());
    EXPECT_FALSE(dataset.steps[0].contains("v"));
    EXPECT_FALSE(dataset.steps[2].contains("u"));
    EXPECT_EQ(read_back(GetParam(), file.path(), first), expected(first));
    EXPECT_EQ(read_back(GetParam(), file.path(), third), expected(third));
  }
  barrier();
}

TEST_P(Adios2, WhatWasWrittenOfAForgottenStepNeverShows) {
  SharedFile file{GetParam(), folder_ / "file", {variable(0, "u", 1000)}};
  const std::vector<std::byte> wrong(8000, std::byte{0x55});
  const Placed placed = file.place(0, 0);
  file.target<StepTarget>()->write(placed, {{1, {}, {1000}}, 0, 1000}, wrong);
  file.target<StepTarget>()->forget_step();
  if (rank() == 0) {
    file.put(placed, {1, {}, {1000}});
  }
  file.finish();
  if (rank() == 0) {
    EXPECT_EQ(read_back(GetParam(), file.path(), placed), expected(placed));
  }
  barrier();
}

TEST_P(Adios2, KeepsAttributesAndWhatBecomesOfThem) {
  SharedFile file{GetParam(), folder_ / "file", {variable(0, "group/u")}};
  auto& description = file.description();
  description.of_variable.resize(1);
  description.attributes["title"] = text_attribute("a wave, größer");
  if (is_folder()) {
    description.attributes["blank"] = text_attribute("");
  }
  description.attributes["becomes"] = attribute<std::int16_t>(ElementType::int16, {1});
  description.attributes["complex"] = attribute<float>(ElementType::complex64, {1, -2, 3, 4});
  description.of_variable[0]["units"] = text_attribute("m");
  (void)write(file, 0, 0);
  description.attributes["becomes"] = attribute<std::int16_t>(ElementType::int16, {4, 5, 6});
  description.of_variable[0]["units"] = text_attribute("km");
  (void)write(file, 0, 1);
  description.attributes["late"] = attribute<double>(ElementType::float64, {0.5});
  file.finish();
  if (rank() == 0) {
    const auto found = read(file.path()).attributes;
    const auto text = [&](const std::string& name) {
      const auto& bytes = found.at(name).bytes;
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    EXPECT_EQ(text("title"), "a wave, größer");
    EXPECT_TRUE(!is_folder() || text("blank").empty());
    EXPECT_EQ(text("group/u/units"), "km");
    EXPECT_EQ(found.at("complex").type, "float");
    EXPECT_EQ(found.at("complex").bytes, description.attributes["complex"].values);
    EXPECT_EQ(found.at("becomes").type, "int16_t");
    EXPECT_EQ(found.at("becomes").bytes, description.attributes["becomes"].values);
    EXPECT_EQ(found.at("late").bytes, description.attributes["late"].values);
  }
  barrier();
}

TEST_P(Adios2, CanBeReadUpToItsLastStepUnderAnotherNameWhileItIsOpen) {
  if (!is_folder()) {
    GTEST_SKIP() << "an HDF5 file can be read when it is closed";
  }
  SharedFile file{GetParam(), folder_ / "temporary", {variable(0, "u", 5000)}};
  const Placed first = write(file, 0, 0);
  if (rank() == 0) {
    ASSERT_EQ(std::rename((folder_ / "temporary").c_str(), (folder_ / "final").c_str()), 0);
    EXPECT_EQ(read_back(GetParam(), folder_ / "final", first), expected(first));
  }
  barrier();
  const Placed second = write(file, 0, 1);
  if (rank() == 0) {
    EXPECT_EQ(read_back(GetParam(), folder_ / "final", second), expected(second));
  }
  file.finish();
  if (rank() == 0) {
    EXPECT_EQ(read(folder_ / "final").steps.size(), 2U);
    EXPECT_NE(std::remove((folder_ / "temporary").c_str()), 0) << "it was made again";
  }
  barrier();
}

TEST_P(Adios2, ParametersThatWouldBreakTheCommitAreRefused) {
  for (const char* key : {"AsyncWrite", "asyncwrite", "BurstBufferPath"}) {
    const std::string story = story_of(GetParam().engine, {{key, "On"}});
    EXPECT_TRUE(contains(story, key) && contains(story, "remove it")) << story;
  }
}

TEST_P(Adios2, OtherParametersReachTheEngine) {
  FormatOptions options = GetParam().options();
  options.hints = {{"NumAggregators", "1"}, {"StatsLevel", "0"}};
  const auto target =
      GetParam().format().create(Path{folder_ / "file"}, options, Communicator{MPI_COMM_WORLD});
  StepTarget& steps = *std::get<std::unique_ptr<StepTarget>>(target);
  steps.begin();
  steps.begin_step(0, {});
  steps.write_step(0, {});
  steps.end_step(0, {});
  finish(target, {});
  close(target, {});
  if (rank() == 0 && GetParam().engine == "BP5") {
    EXPECT_NE(std::remove((folder_ / "file/data.1").c_str()), 0) << "more than one aggregator";
  }
  barrier();
}

TEST(Adios2Engines, AnUnknownOneIsAnErrorThatNamesTheOthers) {
  const std::string story = story_of("BP6", {});
  EXPECT_TRUE(contains(story, "BP6")) << story;
  EXPECT_TRUE(contains(story, "BP4, BP5 and HDF5")) << story;
}

INSTANTIATE_TEST_SUITE_P(Storage, Adios2,
                         testing::Values(BackEnd{"adios2", {}, "BP4"}, BackEnd{"adios2", {}, "BP5"},
                                         BackEnd{"adios2", {}, "HDF5"}),
                         [](const auto& tested) { return label(tested.param); });

}  // namespace
}  // namespace iocomp::formats
