// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files with layout = "time": one dataset for each variable, which grows with the steps.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "back_end.h"
#include "base/path.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "read_hdf5.h"
#include "shared_file.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

Variable variable(int id, const std::string& name, std::vector<std::int64_t> extents) {
  return {id, name, array::ElementType::float64,
          array::make_shape(static_cast<int>(extents.size()), extents.data())};
}

Attribute number(double value) {
  Attribute made;
  made.type = array::ElementType::float64;
  made.values.resize(sizeof value);
  std::memcpy(made.values.data(), &value, sizeof value);
  return made;
}

// A dataset: its extent, its chunks and all it holds.
struct Found {
  std::vector<hsize_t> extent;
  std::vector<hsize_t> chunk;
  std::vector<H5Z_filter_t> filters;
  std::vector<double> values;
};

Found look_at(const std::string& path, const std::string& name) {
  Found found;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  const hid_t created = H5Dget_create_plist(dataset);
  found.extent.resize(static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 0)));
  found.chunk.resize(found.extent.size());
  H5Sget_simple_extent_dims(space, found.extent.data(), nullptr);
  H5Pget_chunk(created, static_cast<int>(found.chunk.size()), found.chunk.data());
  for (int i = 0; i < H5Pget_nfilters(created); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    found.filters.push_back(H5Pget_filter2(created, static_cast<unsigned>(i), &flags, &values,
                                           nullptr, 0, nullptr, nullptr));
  }
  found.values.resize(
      static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0)));
  H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.values.data());
  H5Pclose(created);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return found;
}

class Hdf5AlongTime : public testing::TestWithParam<BackEnd> {
 protected:
  [[nodiscard]] static bool is_compressed() { return GetParam().layout == "deflate"; }
  // The whole of it, by the last rank.
  static void put_whole(SharedFile& file, const Placed& placed) {
    if (rank() == ranks() - 1) {
      file.put(placed, {placed.variable.shape.dimensions, {}, placed.variable.shape.extent});
    }
  }
  SharedFolder folder_;
};

TEST_P(Hdf5AlongTime, AChunkIsAStepOrAPartOfOneOrManySmallSteps) {
  SharedFile file{GetParam(),
                  folder_ / "file.h5",
                  {variable(0, "step", {30, 40}),        // 9600 bytes
                   variable(1, "large", {50, 20, 100}),  // 800000 bytes, of 65536 at most
                   variable(2, "small", {8}),            // 64 bytes, a page for 64 of them
                   variable(3, "scalar", {})}};
  for (std::int64_t step = 0; step < 3; ++step) {
    for (int id = 0; id < 4; ++id) {
      put_whole(file, file.place(id, step));
    }
  }
  file.finish();
  barrier();
  if (rank() == 0) {
    const std::string path = file.path();
    EXPECT_EQ(look_at(path, "/step").chunk, (std::vector<hsize_t>{1, 30, 40}));
    EXPECT_EQ(look_at(path, "/large").chunk, (std::vector<hsize_t>{1, 4, 20, 100}));
    EXPECT_EQ(look_at(path, "/small").chunk, (std::vector<hsize_t>{64, 8}));
    EXPECT_EQ(look_at(path, "/scalar").chunk, (std::vector<hsize_t>{512}));
    EXPECT_EQ(look_at(path, "/large").extent, (std::vector<hsize_t>{3, 50, 20, 100}));
    EXPECT_EQ(look_at(path, "/scalar").extent, (std::vector<hsize_t>{3}));
    const std::vector<H5Z_filter_t> both{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
    EXPECT_EQ(look_at(path, "/step").filters, is_compressed() ? both : std::vector<H5Z_filter_t>{});
    EXPECT_TRUE(look_at(path, "/small").filters.empty());
  }
  barrier();
}

TEST_P(Hdf5AlongTime, StepsThatNobodyPutHoldTheFillValue) {
  Variable filled = variable(0, "filled", {1000});
  filled.fill_value = number(-1.5);
  SharedFile file{GetParam(), folder_ / "file.h5", {filled, variable(1, "zero", {1000})}};
  put_whole(file, file.place(0, 0));
  put_whole(file, file.place(1, 0));
  file.flush();
  put_whole(file, file.place(1, 1));
  file.flush();
  put_whole(file, file.place(0, 3));
  put_whole(file, file.place(1, 3));
  file.finish();
  barrier();
  if (rank() == 0) {
    for (const auto& [name, value] : {std::pair{"/filled", -1.5}, std::pair{"/zero", 0.0}}) {
      const Found found = look_at(file.path(), name);
      ASSERT_EQ(found.values.size(), 4000U) << name;
      EXPECT_EQ(std::count(found.values.begin() + 2000, found.values.begin() + 3000, value), 1000)
          << name;
    }
    const Found filled_found = look_at(file.path(), "/filled");
    EXPECT_EQ(
        std::count(filled_found.values.begin() + 1000, filled_found.values.begin() + 2000, -1.5),
        1000);
  }
  barrier();
}

// More chunks than a node of the index has, in two levels, and what a reader finds in between.
TEST_P(Hdf5AlongTime, EachCommitShowsAllStepsSoFar) {
  SharedFile file{GetParam(),
                  folder_ / "file.h5",
                  {variable(0, "large", {50, 20, 100}),  // 13 chunks
                   variable(1, "small", {8})}};
  constexpr std::int64_t steps = 70;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int id = 0; id < 2; ++id) {
      put_whole(file, file.place(id, step));
    }
    file.flush();
    if (rank() == 0 && (step % 23 == 0 || step + 1 == steps)) {
      const auto count = static_cast<hsize_t>(step) + 1;
      EXPECT_EQ(look_at(file.path(), "/large").extent, (std::vector<hsize_t>{count, 50, 20, 100}));
      EXPECT_EQ(look_at(file.path(), "/small").extent, (std::vector<hsize_t>{count, 8}));
      const auto source = GetParam().open(file.path());
      for (const auto& placed : file.description().contents) {
        if (placed.step % 7 != step % 7) {
          continue;
        }
        const array::Box all{placed.variable.shape.dimensions, {}, placed.variable.shape.extent};
        const auto wanted = expected(placed);
        std::vector<std::byte> got(wanted.size());
        source->read(placed, all, {{placed.variable.shape, all}, got.data()});
        EXPECT_TRUE(got == wanted) << placed.variable.name << " of step " << placed.step;
      }
    }
    barrier();
  }
  file.finish();
}

TEST_P(Hdf5AlongTime, AStepThatFailedIsAsIfNobodyHadPutIt) {
  if (GetParam().writes_whole_steps()) {
    GTEST_SKIP() << "such a step is never written";
  }
  SharedFile file{GetParam(), folder_ / "file.h5", {variable(0, "u", {1000})}};
  for (std::int64_t step = 0; step < 3; ++step) {
    put_whole(file, file.place(0, step));
  }
  std::erase_if(file.description().contents, [](const Placed& placed) { return placed.step == 1; });
  file.finish();
  barrier();
  if (rank() == 0) {
    const Found found = look_at(file.path(), "/u");
    ASSERT_EQ(found.values.size(), 3000U);
    EXPECT_EQ(std::count(found.values.begin() + 1000, found.values.begin() + 2000, 0.0), 1000);
    EXPECT_NE(found.values[999], 0.0);
    EXPECT_NE(found.values[2999], 0.0);
  }
  barrier();
}

// The bytes of one chunk as they lie in the file.
std::vector<std::byte> chunk_in_file(hid_t dataset, const std::vector<hsize_t>& corner) {
  hsize_t bytes = 0;
  H5Dget_chunk_storage_size(dataset, corner.data(), &bytes);
  std::vector<std::byte> chunk(bytes);
  std::uint32_t left_out = 1;
  EXPECT_GE(H5Dread_chunk(dataset, H5P_DEFAULT, corner.data(), &left_out, chunk.data()), 0);
  EXPECT_EQ(left_out, 0U);
  return chunk;
}

TEST_P(Hdf5AlongTime, ChunksAreThoseThatHdf5WouldHaveWritten) {
  Variable last_is_not_full = variable(0, "u", {50, 20, 100});  // in chunks of 4 rows
  last_is_not_full.fill_value = number(-1.5);
  SharedFile file{GetParam(), folder_ / "file.h5", {last_is_not_full}};
  const Placed placed = file.place(0, 0);
  put_whole(file, placed);
  file.finish();
  barrier();
  if (rank() == 0) {
    const hid_t opened = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(opened, "/u", H5P_DEFAULT);
    const hid_t created = H5Dget_create_plist(dataset);
    const hid_t space = H5Dget_space(dataset);
    const std::string path = folder_ / "other.h5";
    const hid_t other = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t written =
        H5Dcreate2(other, "/u", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, created, H5P_DEFAULT);
    const auto values = expected(placed);
    H5Dwrite(written, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Fflush(other, H5F_SCOPE_GLOBAL);
    // Without filters nobody reads what lies behind the last row, so it is not written.
    for (hsize_t row = 0; row < (is_compressed() ? 50U : 48U); row += 4) {
      const std::vector<hsize_t> corner{0, row, 0, 0};
      EXPECT_EQ(chunk_in_file(dataset, corner), chunk_in_file(written, corner)) << row;
    }
    for (const auto id : {dataset, written}) {
      H5Dclose(id);
    }
    H5Sclose(space);
    H5Pclose(created);
    H5Fclose(other);
    H5Fclose(opened);
  }
  barrier();
}

TEST_P(Hdf5AlongTime, KeepsAttributes) {
  SharedFile file{GetParam(), folder_ / "file.h5", {variable(0, "deep/u", {10})}};
  put_whole(file, file.place(0, 0));
  file.description().attributes["of_file"] = number(1.5);
  file.description().of_variable = {{{"of_u", number(2.5)}}};
  file.finish();
  barrier();
  if (rank() == 0) {
    EXPECT_EQ(hdf5_attribute(file.path(), "/", "of_file"), "1.5");
    EXPECT_EQ(hdf5_attribute(file.path(), "/deep/u", "of_u"), "2.5");
  }
  barrier();
}

INSTANTIATE_TEST_SUITE_P(Storage, Hdf5AlongTime,
                         testing::Values(BackEnd{"hdf5", {}, {}, "time"},
                                         BackEnd{"hdf5", {}, {}, "deflate"}),
                         [](const auto& tested) { return tested.param.layout; });

}  // namespace
}  // namespace iocomp::formats
