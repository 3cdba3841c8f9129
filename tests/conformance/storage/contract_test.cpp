// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "back_end.h"
#include "base/error.h"
#include "base/path.h"
#include "box_reader.h"
#include "formats/format.h"
#include "read_back.h"
#include "shared_file.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

using array::Box;
using array::ElementType;
using array::Shape;

// This rank's share when dimension `d` is cut over all ranks; the last ones may get nothing.
Box share(const Shape& shape, int d) {
  Box box{shape.dimensions, {}, shape.extent};
  const auto dimension = static_cast<std::size_t>(d);
  const std::int64_t rows = (shape.extent.at(dimension) + ranks() - 1) / ranks();
  box.start.at(dimension) = std::min(rows * rank(), shape.extent.at(dimension));
  box.count.at(dimension) = std::min(rows, shape.extent.at(dimension) - box.start.at(dimension));
  return box;
}

Box whole(const Shape& shape) { return {shape.dimensions, {}, shape.extent}; }

class Contract : public testing::TestWithParam<BackEnd> {
 protected:
  static Variable variable(int id, const std::string& name, ElementType type,
                           std::vector<std::int64_t> extents) {
    return GetParam().like(
        {id, name, type, array::make_shape(static_cast<int>(extents.size()), extents.data())});
  }

  // Compares the file with what was written: all of it, read without iocomp on rank 0, and boxes of
  // it, read by every rank through the format. Collective, because only then all have written.
  std::string differences(const SharedFile& file, const std::vector<Placed>& contents) {
    std::string different;
    const auto name = [](const Placed& placed) {
      return placed.variable.name + " of step " + std::to_string(placed.step) + "; ";
    };
    for (const auto& placed : contents) {
      if (rank() == 0 && read_back(GetParam(), file.path(), placed) != expected(placed)) {
        different += name(placed);
      }
    }
    BoxReader reader{GetParam(), file.path()};
    for (const auto& placed : contents) {
      if (const auto boxes = reader.differences(placed); !boxes.empty()) {
        different += "the boxes " + boxes + "of " + name(placed);
      }
    }
    barrier();
    return different;
  }

  SharedFolder folder_;
};

TEST_P(Contract, EveryElementIsReadBackWhereItBelongs) {
  SharedFile file{GetParam(),
                  folder_ / "file",
                  {variable(0, "u", ElementType::float64, {7, 9, 5}),
                   variable(1, "group/inner/v", ElementType::int16, {40, 3}),
                   variable(2, "w", ElementType::uint8, {1001})}};
  std::vector<Placed> contents;
  for (std::int64_t step = 0; step < 3; ++step) {
    for (int id = 0; id < 3; ++id) {
      const Placed placed = file.place(id, step);
      const int d = static_cast<int>(step) % placed.variable.shape.dimensions;
      file.put(placed, share(placed.variable.shape, d));
      contents.push_back(placed);
    }
    file.flush();
  }
  file.finish();
  EXPECT_EQ(differences(file, contents), "");
}

TEST_P(Contract, PiecesMayBeginAndEndAnywhereInABlock) {
  SharedFile file{
      GetParam(), folder_ / "file", {variable(0, "u", ElementType::complex64, {4, 6, 5, 7})}};
  std::vector<Placed> contents;
  for (std::int64_t step = 0; step < 6; ++step) {
    const Placed placed = file.place(0, step);
    const std::int64_t piece =
        std::vector<std::int64_t>{1, 2, 13, 36, 100, 211}.at(static_cast<std::size_t>(step));
    file.put(placed, share(placed.variable.shape, static_cast<int>(step) % 4), piece);
    contents.push_back(placed);
  }
  file.finish();
  EXPECT_EQ(differences(file, contents), "");
}

TEST_P(Contract, KeepsEveryElementType) {
  std::vector<Variable> variables;
  for (int value = 1; array::element_type(value); ++value) {
    if (GetParam().holds(*array::element_type(value))) {
      variables.push_back(variable(static_cast<int>(variables.size()),
                                   "type" + std::to_string(value), *array::element_type(value),
                                   {23}));
    }
  }
  SharedFile file{GetParam(), folder_ / "file", variables};
  std::vector<Placed> contents;
  for (const auto& each : variables) {
    contents.push_back(file.place(each.id, 0));
    file.put(contents.back(), share(each.shape, 0));
  }
  file.finish();
  const bool is_netcdf = GetParam().name == "netcdf" || GetParam().name == "pnetcdf";
  const std::size_t of_adios2 = GetParam().engine == "HDF5" ? 12 : 13;
  EXPECT_EQ(contents.size(), is_netcdf ? 13U : GetParam().name == "adios2" ? of_adios2 : 14U);
  EXPECT_EQ(differences(file, contents), "");
}

TEST_P(Contract, KeepsTextsOfFixedLength) {
  SharedFile file{GetParam(),
                  folder_ / "file",
                  {variable(0, "name", ElementType::character, {17}),
                   variable(1, "names", ElementType::character, {6, 4, 24}),
                   variable(2, "letter", ElementType::character, {}),
                   variable(3, "none", ElementType::character, {3, 0}),
                   variable(4, "letters", ElementType::character, {5, 1}),
                   variable(5, "many", ElementType::character, {60, 5, 33}),
                   variable(6, "more", ElementType::character, {700, 3, 40})}};
  std::vector<Placed> contents;
  for (int id = 0; id < 7; ++id) {
    contents.push_back(file.place(id, 0));
    if (id < 2 || id > 4) {
      file.put(contents.back(), share(contents.back().variable.shape, id % 2), id < 2 ? 7 : 1000);
    } else if (rank() == 0) {
      file.put(contents.back(), whole(contents.back().variable.shape));
    }
  }
  file.finish();
  EXPECT_EQ(differences(file, contents), "");
}

TEST_P(Contract, KeepsScalarsAndEightDimensionsAndNoElementsAtAll) {
  SharedFile file{GetParam(),
                  folder_ / "file",
                  {variable(0, "scalar", ElementType::float64, {}),
                   variable(1, "empty", ElementType::float64, {4, 0}),
                   variable(2, "eight", ElementType::int32, {2, 1, 3, 2, 1, 2, 2, 3}),
                   variable(3, "complex", ElementType::complex128, {1, 2, 1, 3, 2, 2, 1, 2}),
                   variable(4, "one", ElementType::complex64, {})}};
  std::vector<Placed> contents;
  for (int id = 0; id < 5; ++id) {
    contents.push_back(file.place(id, 0));
    if (rank() == ranks() - 1) {
      file.put(contents.back(), whole(contents.back().variable.shape), 5);
    }
  }
  file.finish();
  EXPECT_EQ(differences(file, contents), "");
}

TEST_P(Contract, RoomMadeLaterDoesNotDisturbWhatIsWritten) {
  if (GetParam().writes_whole_steps()) {
    GTEST_SKIP() << "one step after the other";
  }
  std::vector<Variable> variables;
  for (int id = 0; id < 12; ++id) {
    variables.push_back(variable(id, "v" + std::to_string(id), ElementType::int64, {id * 700 + 1}));
  }
  SharedFile file{GetParam(), folder_ / "file", variables};
  std::vector<Placed> contents;
  for (int id = 0; id < 12; ++id) {
    contents.push_back(file.place(id, id % 3));
    file.put(contents.back(), share(variables.at(static_cast<std::size_t>(id)).shape, 0), 333);
    if (id % 4 == 3) {
      file.flush();
    }
  }
  file.finish();
  EXPECT_EQ(differences(file, contents), "");
}

// A library that reads, changes and writes back the gaps of a block would undo what others put
// there.
TEST_P(Contract, BlocksThatFillTheGapsOfOneAnotherAllStay) {
  const std::int64_t columns = std::int64_t{5} * ranks();
  SharedFile file{GetParam(),
                  folder_ / "file",
                  {variable(0, "u", ElementType::int32, {300, columns}),
                   variable(1, "v", ElementType::float64, {90, columns, 3}),
                   variable(2, "w", ElementType::int16, {500, columns})}};
  std::vector<Placed> contents;
  for (std::int64_t step = 0; step < 8; ++step) {
    for (int id = 0; id < 3; ++id) {
      contents.push_back(file.place(id, step));
      // Some at once, some run by run.
      const bool is_whole = (step + rank()) % 2 == 0;
      file.put(contents.back(), share(contents.back().variable.shape, 1), is_whole ? 1000000 : 5);
    }
  }
  file.finish();
  EXPECT_EQ(differences(file, contents), "");
}

TEST_P(Contract, WhatNobodyPutAtTheEndIsZeros) {
  if (GetParam().writes_whole_steps()) {
    GTEST_SKIP() << "whoever gives it the steps has them whole";
  }
  SharedFile file{GetParam(),
                  folder_ / "file",
                  {variable(0, "u", ElementType::int32, {7, 9}),
                   variable(1, "v", ElementType::float64, {5, 4000})}};
  std::vector<Placed> contents;
  for (int id = 0; id < 2; ++id) {
    contents.push_back(file.place(id, 0));
    Box first = share(contents.back().variable.shape, 1);
    first.count.at(0) = 1;
    file.put(contents.back(), first);
  }
  file.finish();
  if (GetParam().is_plain() && rank() == 0) {
    file.grow();  // whoever commits a step does
  }
  barrier();
  const auto source = GetParam().open(file.path());
  for (const auto& placed : contents) {
    auto wanted = expected(placed);
    const auto row = wanted.size() / static_cast<std::size_t>(placed.variable.shape.extent[0]);
    std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(row), wanted.end(), std::byte{0});
    const Box all = whole(placed.variable.shape);
    std::vector<std::byte> got(wanted.size(), std::byte{0xa5});
    source->read(placed, all, {{placed.variable.shape, all}, got.data()});
    EXPECT_TRUE(got == wanted) << placed.variable.name;
  }
  barrier();
}

TEST_P(Contract, DataBeginAtMultiplesOfTheAlignment) {
  if (!GetParam().is_plain()) {
    GTEST_SKIP() << "the library places the data";
  }
  if (GetParam().format().traits().rules.keeps_first_definitions) {
    GTEST_SKIP() << "records follow one another without gaps";
  }
  SharedFile file{GetParam(),
                  folder_ / "file",
                  {variable(0, "scalar", ElementType::int8, {}),
                   variable(1, "u", ElementType::float64, {777})}};
  for (std::int64_t step = 0; step < 3; ++step) {
    for (int id = 0; id < 2; ++id) {
      EXPECT_EQ(file.place(id, step).offset % GetParam().options().alignment_bytes, 0);
    }
  }
  file.finish();
}

TEST_P(Contract, AFileWithNothingInItCanBeFinished) {
  SharedFile file{GetParam(), folder_ / "file", {}};
  file.flush();
  file.finish();
}

TEST_P(Contract, AWrittenRangeLargerThanASliceArrivesWhole) {
  SharedFile file{GetParam(),
                  folder_ / "file",
                  {variable(0, "u", ElementType::complex128, {1024 * 1024 + 17})}};
  const Placed placed = file.place(0, 0);
  file.put(placed, share(placed.variable.shape, 0), placed.variable.shape.extent[0]);
  file.finish();
  EXPECT_EQ(differences(file, {placed}), "");
}

TEST_P(Contract, AnAbandonedFileLeavesNobodyWaiting) {
  SharedFile file{GetParam(), folder_ / "file", {variable(0, "u", ElementType::float64, {100})}};
  const Placed placed = file.place(0, 0);
  if (rank() == 0) {
    file.put(placed, whole(placed.variable.shape));
    file.abandon();
    return;
  }
  file.abandon();
}

INSTANTIATE_TEST_SUITE_P(Storage, Contract, testing::ValuesIn(back_ends()),
                         [](const auto& tested) { return label(tested.param); });

}  // namespace
}  // namespace iocomp::formats
