// SPDX-License-Identifier: BSD-3-Clause
// Reading HDF5 files without a manifest, those of others too.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "back_end.h"
#include "base/error.h"
#include "base/path.h"
#include "contents/variable.h"
#include "foreign_hdf5.h"
#include "formats/format.h"
#include "formats/source.h"
#include "formats/sources.h"
#include "shared_file.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

using array::ElementType;

const BackEnd hdf5{"hdf5", {}};

Attribute text_attribute(const std::string& text) {
  Attribute made;
  made.is_text = true;
  const auto bytes = std::as_bytes(std::span{text});
  made.values.assign(bytes.begin(), bytes.end());
  return made;
}

template <typename T>
std::vector<T> read(Source& source, const Placed& placed, const std::vector<std::int64_t>& start,
                    const std::vector<std::int64_t>& count) {
  const auto box = array::make_box(placed.variable.shape, start.data(), count.data());
  std::vector<T> values(static_cast<std::size_t>(array::elements(box)));
  source.read(
      placed, box,
      {array::make_memory_box(box, nullptr, nullptr), reinterpret_cast<std::byte*>(values.data())});
  return values;
}

class Hdf5Reading : public testing::Test {
 protected:
  std::unique_ptr<Source> foreign() {
    if (rank() == 0) {
      write_foreign_hdf5(folder_ / "foreign.h5");
    }
    barrier();
    return open_source("hdf5", Path{folder_ / "foreign.h5"});
  }
  SharedFolder folder_;
};

TEST_F(Hdf5Reading, DatasetsOfOthersAreVariablesOfStepZero) {
  const auto inventory = foreign()->inventory();
  EXPECT_EQ(inventory.steps, std::vector<std::int64_t>{0});
  ASSERT_EQ(inventory.contents.size(), 3U);
  const Variable& counts = inventory.contents[0].variable;
  EXPECT_EQ(counts.name, "group/counts");
  EXPECT_EQ(counts.type, ElementType::int16);
  EXPECT_EQ(array::text(counts.shape), "5");
  const Variable& name = inventory.contents[1].variable;
  EXPECT_EQ(name.name, "name");
  EXPECT_EQ(name.type, ElementType::character);
  EXPECT_EQ(name.shape.dimensions, 1) << "a text of fixed length";
  const Variable& temperature = inventory.contents[2].variable;
  EXPECT_EQ(temperature.name, "temperature");
  EXPECT_EQ(temperature.type, ElementType::float32);
  EXPECT_EQ(array::text(temperature.shape), "6 x 7");
  EXPECT_EQ(inventory.attributes.at("title"), text_attribute("foreign"));
  const Attributes& attributes = inventory.of_variable.at("temperature");
  EXPECT_EQ(attributes.at("units"), text_attribute("K"));
  double scale = 0;
  std::memcpy(&scale, attributes.at("scale").values.data(), sizeof scale);
  EXPECT_EQ(scale, 0.5);
}

TEST_F(Hdf5Reading, WhatIsChunkedAndOfTheOtherByteOrderIsReadByTheLibrary) {
  const auto source = foreign();
  const auto contents = source->inventory().contents;
  EXPECT_EQ(read<float>(*source, contents.at(2), {2, 3}, {3, 2}),
            (std::vector<float>{17, 18, 24, 25, 31, 32}));
  EXPECT_EQ(read<std::int16_t>(*source, contents.at(0), {1}, {3}),
            (std::vector<std::int16_t>{-1, -2, -3}));
  EXPECT_EQ(read<char>(*source, contents.at(1), {1}, {4}), (std::vector<char>{'o', 'm', 'e', 'b'}));
  // Into a box of a larger array.
  const std::vector<std::int64_t> start{5, 6};
  const std::vector<std::int64_t> count{1, 1};
  const auto box = array::make_box(contents.at(2).variable.shape, start.data(), count.data());
  const std::vector<std::int64_t> memory_shape{3, 3};
  const std::vector<std::int64_t> memory_start{1, 2};
  std::array<float, 9> local{};
  source->read(contents.at(2), box,
               {array::make_memory_box(box, memory_shape.data(), memory_start.data()),
                reinterpret_cast<std::byte*>(local.data())});
  EXPECT_EQ(local, (std::array<float, 9>{0, 0, 0, 0, 0, 41, 0, 0, 0}));
}

TEST_F(Hdf5Reading, WhatHasAnotherShapeIsNotRead) {
  const auto source = foreign();
  Placed placed = source->inventory().contents.at(0);
  placed.variable.shape.extent[0] = 4;
  EXPECT_THROW((void)read<std::int16_t>(*source, placed, {0}, {1}), Error);
  placed.variable.name = "group/none";
  EXPECT_THROW((void)read<std::int16_t>(*source, placed, {0}, {1}), Error);
}

TEST_F(Hdf5Reading, AFileOfIocompTellsItsStepsWithoutAManifest) {
  const std::int64_t extent = 10;
  SharedFile file{hdf5,
                  folder_ / "file.h5",
                  {{0, "deep/v", ElementType::complex64, array::make_shape(1, &extent)},
                   {1, "half", ElementType::float16, array::Shape{}}}};
  for (const std::int64_t step : {0, 2, 10}) {
    for (int id = 0; id < 2; ++id) {
      const Placed placed = file.place(id, step);
      if (rank() == 0) {
        file.put(placed, {placed.variable.shape.dimensions, {}, placed.variable.shape.extent});
      }
    }
  }
  file.description().attributes["title"] = text_attribute("größer");
  file.description().of_variable = {{{"unit", text_attribute("m")}}, {}};
  file.finish();
  const auto inventory = open_source("hdf5", Path{file.path()})->inventory();
  EXPECT_EQ(inventory.steps, (std::vector<std::int64_t>{0, 2, 10}));
  ASSERT_EQ(inventory.contents.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const Placed& was = file.description().contents[i];
    const Placed& is = inventory.contents[i];
    EXPECT_EQ(is.step, was.step);
    EXPECT_EQ(is.variable.name, was.variable.name);
    EXPECT_EQ(is.variable.type, was.variable.type);
    EXPECT_EQ(is.variable.shape, was.variable.shape);
  }
  EXPECT_EQ(inventory.attributes, file.description().attributes);
  EXPECT_EQ(inventory.of_variable.at("deep/v"), file.description().of_variable[0]);
  barrier();
}

TEST_F(Hdf5Reading, WhatIsNoHdf5FileIsTold) {
  if (rank() == 0) {
    std::ofstream{folder_ / "text.h5"} << "no HDF5";
  }
  barrier();
  try {
    (void)open_source("hdf5", Path{folder_ / "text.h5"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::storage_failure);
  }
}

}  // namespace
}  // namespace iocomp::formats
