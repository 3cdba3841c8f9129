// SPDX-License-Identifier: BSD-3-Clause
// Tests that only HDF5 files need: attributes, groups, absent steps that are gone.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "back_end.h"
#include "base/error.h"
#include "base/path.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "formats/sources.h"
#include "read_hdf5.h"
#include "shared_file.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

template <typename T>
Attribute attribute(array::ElementType type, const std::vector<T>& values) {
  Attribute made;
  made.type = type;
  made.values.resize(values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(made.values.data(), values.data(), made.values.size());
  }
  return made;
}

Attribute text_attribute(const std::string& text) {
  Attribute made =
      attribute(array::ElementType::uint8, std::vector<char>(text.begin(), text.end()));
  made.is_text = true;
  return made;
}

Variable variable(int id, const std::string& name) {
  const std::int64_t extent = 10;
  return {id, name, array::ElementType::float64, array::make_shape(1, &extent)};
}

const BackEnd hdf5{"hdf5", {}};

class Hdf5 : public testing::Test {
 protected:
  SharedFolder folder_;
};

TEST_F(Hdf5, KeepsAttributesOfTheFileAndOfVariables) {
  SharedFile file{hdf5, folder_ / "file.h5", {variable(0, "u"), variable(1, "deep/v")}};
  for (std::int64_t step = 0; step < 2; ++step) {
    (void)file.place(0, step);
    (void)file.place(1, step);
  }
  auto& description = file.description();
  description.attributes["title"] = text_attribute("a wave, größer");
  description.attributes["nothing"] = text_attribute("");
  description.attributes["dt"] = attribute<double>(array::ElementType::float64, {0.25});
  description.attributes["none"] = attribute<double>(array::ElementType::float64, {});
  description.of_variable.resize(2);
  description.of_variable[1]["levels"] =
      attribute<std::int32_t>(array::ElementType::int32, {3, -1, 7});
  description.of_variable[1]["phase"] =
      attribute<float>(array::ElementType::complex64, {1.5F, -2.0F});
  file.finish();
  if (rank() == 0) {
    EXPECT_EQ(hdf5_attribute(file.path(), "/", "title"), "a wave, größer");
    EXPECT_EQ(hdf5_attribute(file.path(), "/", "nothing"), "");
    EXPECT_EQ(hdf5_attribute(file.path(), "/", "dt"), "0.25");
    EXPECT_EQ(hdf5_attribute(file.path(), "/", "none"), "");
    EXPECT_EQ(hdf5_attribute(file.path(), "/0/deep/v", "levels"), "3 -1 7");
    EXPECT_EQ(hdf5_attribute(file.path(), "/1/deep/v", "phase"), "1.5 -2");
    EXPECT_EQ(hdf5_attribute(file.path(), "/1/u", "phase"), "missing");
  }
}

TEST_F(Hdf5, WhatIsNotDescribedIsNotThere) {
  SharedFile file{hdf5, folder_ / "file.h5", {variable(0, "u")}};
  for (std::int64_t step = 0; step < 3; ++step) {
    const Placed placed = file.place(0, step);
    if (rank() == 0) {
      file.put(placed, {1, {}, placed.variable.shape.extent});
    }
  }
  file.forget(1);
  file.finish();
  if (rank() == 0) {
    EXPECT_TRUE(hdf5_has(file.path(), "/0/u"));
    EXPECT_FALSE(hdf5_has(file.path(), "/1"));
    EXPECT_TRUE(hdf5_has(file.path(), "/2/u"));
    for (const auto& placed : file.description().contents) {
      EXPECT_EQ(read_hdf5(file.path(), placed), expected(placed));
    }
  }
}

// More than fit into one block of links, and what a reader finds in between.
TEST_F(Hdf5, EachCommitShowsAllStepsSoFar) {
  SharedFile file{hdf5, folder_ / "file.h5", {variable(0, "u"), variable(1, "deep/v")}};
  file.description().attributes["title"] = text_attribute("steps");
  constexpr std::int64_t steps = 300;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int id = 0; id < 2; ++id) {
      const Placed placed = file.place(id, step);
      if (rank() == 0) {
        file.put(placed, {1, {}, {10}});
      }
    }
    file.flush();
    if (rank() == 0 && (step % 59 == 0 || step + 1 == steps)) {
      const auto found = open_source("hdf5", Path{file.path()})->inventory();
      EXPECT_EQ(std::ssize(found.steps), step + 1);
      EXPECT_EQ(found.attributes, file.description().attributes);
      for (const auto& placed :
           {file.description().contents.front(), file.description().contents.back()}) {
        EXPECT_EQ(read_hdf5(file.path(), placed), expected(placed)) << step;
      }
    }
  }
  file.finish();
}

TEST_F(Hdf5, WhatACommitWroteIsNotSeenBeforeItsSwitch) {
  SharedFile file{hdf5, folder_ / "file.h5", {variable(0, "u")}};
  (void)file.place(0, 0);
  file.flush();
  (void)file.place(0, 1);
  if (auto* const target = file.target<PlainTarget>()) {
    Description second = file.description();
    std::erase_if(second.contents, [](const Placed& placed) { return placed.step == 0; });
    for (int again = 0; again < 3; ++again) {  // nobody says that it is visible
      const Switch last = target->commit(second, 1);
      EXPECT_EQ(last.bytes.size(), 48U);
      EXPECT_EQ(open_source("hdf5", Path{file.path()})->inventory().steps,
                (std::vector<std::int64_t>{0}));
    }
  }
  file.finish();
  if (rank() == 0) {
    EXPECT_EQ(open_source("hdf5", Path{file.path()})->inventory().steps,
              (std::vector<std::int64_t>{0, 1}));
  }
  barrier();
}

TEST_F(Hdf5, AVariableThatWouldHaveToBeAGroupIsRefused) {
  SharedFile file{hdf5, folder_ / "file.h5", {variable(0, "u")}};
  (void)file.place(0, 0);
  if (file.is_mine()) {
    try {
      (void)file.target<PlainTarget>()->place(variable(1, "u/v"), 0, {file.catalogue(), 0});
      ADD_FAILURE() << "a dataset cannot be a group";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::storage_failure);
      const std::string story = error.what();
      EXPECT_NE(story.find("\"u/v\" in " + file.path() + ": there is \"u\""), std::string::npos)
          << story;
    }
  }
  file.finish();
}

}  // namespace
}  // namespace iocomp::formats
