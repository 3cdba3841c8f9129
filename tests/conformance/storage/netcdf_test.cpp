// SPDX-License-Identifier: BSD-3-Clause
// Tests that only netCDF files need: steps in a dimension, and their numbers without a manifest.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "back_end.h"
#include "base/error.h"
#include "base/path.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "formats/source.h"
#include "shared_file.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

using array::ElementType;

Attribute text_attribute(const std::string& text) {
  Attribute made;
  made.is_text = true;
  const auto bytes = std::as_bytes(std::span{text});
  made.values.assign(bytes.begin(), bytes.end());
  return made;
}

Variable variable(int id, const std::string& name, std::vector<std::int64_t> extents,
                  const std::string& dimensions) {
  return {id, name, ElementType::float32,
          array::make_shape(static_cast<int>(extents.size()), extents.data()), dimensions};
}

std::vector<BackEnd> netcdf_back_ends() {
  std::vector<BackEnd> all;
  for (const auto& back_end : back_ends()) {
    if (back_end.name == "netcdf" || back_end.name == "pnetcdf") {
      all.push_back(back_end);
    }
  }
  return all;
}

class Netcdf : public testing::TestWithParam<BackEnd> {
 protected:
  // Two variables, of which "x" has no time, in two steps.
  void put_two_steps(SharedFile& file) {
    for (std::int64_t step = 0; step < 2; ++step) {
      for (int id = 0; id < (step == 0 ? 2 : 1); ++id) {
        const Placed placed = file.place(id, step);
        if (rank() == 0) {
          file.put(placed, {placed.variable.shape.dimensions, {}, placed.variable.shape.extent});
        }
      }
    }
  }
  SharedFolder folder_;
};

TEST_P(Netcdf, AFileTellsItsStepsAndAttributesWithoutAManifest) {
  SharedFile file{GetParam(),
                  folder_ / "file.nc",
                  {variable(0, "u", {4, 6}, "time y x"), variable(1, "x", {6}, "x")}};
  put_two_steps(file);
  file.description().attributes["title"] = text_attribute("größer");
  file.description().of_variable = {
      {{"units", text_attribute("K")}, {"dimensions", text_attribute("time y x")}}, {}};
  file.finish();
  const auto source = GetParam().open(file.path());
  const auto inventory = source->inventory();
  EXPECT_EQ(inventory.steps, (std::vector<std::int64_t>{0, 1}));
  ASSERT_EQ(inventory.contents.size(), 3U);
  int of_step_0 = 0;
  for (const auto& is : inventory.contents) {
    const bool is_u = is.variable.name == "u";
    EXPECT_EQ(array::text(is.variable.shape), is_u ? "4 x 6" : "6");
    EXPECT_EQ(is.variable.type, ElementType::float32);
    EXPECT_TRUE(is_u || is.step == 0);
    of_step_0 += is.step == 0 ? 1 : 0;
  }
  EXPECT_EQ(of_step_0, 2);
  EXPECT_EQ(inventory.attributes.at("title"), text_attribute("größer"));
  EXPECT_EQ(inventory.of_variable.at("u"), file.description().of_variable[0]);
  barrier();
}

TEST_P(Netcdf, AVariableWithoutTimeIsPutInOneStepOnly) {
  SharedFile file{GetParam(),
                  folder_ / "file.nc",
                  {variable(0, "u", {4, 6}, "time y x"), variable(1, "x", {6}, "x")}};
  put_two_steps(file);
  if (file.is_mine()) {
    EXPECT_THROW((void)file.target<PlainTarget>()->place(variable(1, "x", {6}, "x"), 1,
                                                         {file.catalogue(), 1}),
                 Error);
  }
  file.finish();
}

TEST_P(Netcdf, WhatIsNoNetcdfFileIsTold) {
  if (rank() == 0) {
    std::ofstream{folder_ / "text.nc"} << "no netCDF, but long enough to be looked at as one";
  }
  barrier();
  try {
    (void)GetParam().open(folder_ / "text.nc");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::storage_failure);
  }
  barrier();
}

INSTANTIATE_TEST_SUITE_P(Storage, Netcdf, testing::ValuesIn(netcdf_back_ends()),
                         [](const auto& tested) { return label(tested.param); });

}  // namespace
}  // namespace iocomp::formats
