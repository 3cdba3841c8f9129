// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "array/element_type.h"
#include "base/error.h"
#include "base/path.h"
#include "formats/netcdf/source.h"
#include "formats/pnetcdf/header.h"
#include "unit/temporary_folder.h"

namespace iocomp::formats::cdf {
namespace {

/// A file of 512 bytes for its header, and of records of 24 bytes.
class Records : public testing::Test {
 protected:
  std::string written(std::int64_t claimed, std::size_t present) {
    Header header;
    header.records = claimed;
    header.dimensions = {{"time", 0}, {"x", 3}};
    header.variables = {{"u", {0, 1}, {}, array::ElementType::float64, 24, 512}};
    const auto bytes = encode(header);
    std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    text.resize(512 + 24 * present);
    write_text(folder_ / "u.nc", text);
    return folder_ / "u.nc";
  }

 protected:
  std::mutex library_;

 private:
  TemporaryFolder folder_;
};

TEST_F(Records, AreTheStepsOfAFile) {
  const auto inventory = open_netcdf(Path{written(3, 3)}, library_)->inventory();
  EXPECT_EQ(inventory.steps.size(), 3U);
  EXPECT_EQ(inventory.contents.size(), 3U);
}

// Listing them would take all memory.
TEST_F(Records, ThatTheFileHasNoRoomForAreRefused) {
  const std::string path = written(std::int64_t{1} << 50, 3);
  EXPECT_THROW((void)open_netcdf(Path{path}, library_)->inventory(), Error);
}

}  // namespace
}  // namespace iocomp::formats::cdf
