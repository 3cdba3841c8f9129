// SPDX-License-Identifier: BSD-3-Clause
#include "formats/plain_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "formats/source.h"
#include "unit/seed.h"
#include "unit/temporary_folder.h"

namespace iocomp::formats {
namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::int64_t offset = 512;

class PlainSourceTest : public testing::Test {
 protected:
  // A file of 0, 1, 2, ... in this shape, from `offset` on.
  Placed write(const std::vector<std::int64_t>& extents) {
    const auto shape = array::make_shape(static_cast<int>(extents.size()), extents.data());
    Numbers numbers(static_cast<std::size_t>(array::elements(shape)));
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::string bytes(offset, '\xff');
    bytes.append(reinterpret_cast<const char*>(numbers.data()),
                 numbers.size() * sizeof numbers.front());
    write_text(path_, bytes);
    return {0, {0, "u", array::ElementType::uint32, shape}, offset};
  }
  // Nothing of the file stays in the page cache, where the file system lets go of it.
  void forget() const {
    const Descriptor file{::open(path_.c_str(), O_RDONLY)};
    ::fdatasync(file.raw());
    ::posix_fadvise(file.raw(), 0, 0, POSIX_FADV_DONTNEED);
  }
  Numbers read(const Placed& placed, const std::vector<std::int64_t>& start,
               const std::vector<std::int64_t>& count) {
    const auto box = array::make_box(placed.variable.shape, start.data(), count.data());
    Numbers numbers(static_cast<std::size_t>(array::elements(box)), ~0U);
    PlainSource{Path{path_}}.read(placed, box,
                                  {array::make_memory_box(box, nullptr, nullptr),
                                   reinterpret_cast<std::byte*>(numbers.data())});
    return numbers;
  }
  static Numbers expected(const array::Shape& shape, const std::vector<std::int64_t>& start,
                          const std::vector<std::int64_t>& count) {
    Numbers numbers;
    for (std::int64_t z = start[0]; z < start[0] + count[0]; ++z) {
      for (std::int64_t y = start[1]; y < start[1] + count[1]; ++y) {
        for (std::int64_t x = start[2]; x < start[2] + count[2]; ++x) {
          numbers.push_back(
              static_cast<std::uint32_t>((z * shape.extent[1] + y) * shape.extent[2] + x));
        }
      }
    }
    return numbers;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(PlainSourceTest, ReadsShortRunsLongRunsAndWhatIsBetween) {
  // Runs of 4 bytes to 16 MiB, so through spans, over gaps and directly.
  const Placed placed = write({16, 512, 512});
  const std::vector<std::vector<std::int64_t>> starts{{0, 0, 0}, {3, 5, 7},   {0, 100, 511},
                                                      {2, 0, 0}, {0, 511, 0}, {15, 0, 1}};
  const std::vector<std::vector<std::int64_t>> counts{{16, 512, 512}, {9, 300, 33}, {16, 400, 1},
                                                      {5, 512, 500},  {16, 1, 512}, {1, 512, 2}};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(read(placed, starts[i], counts[i]),
              expected(placed.variable.shape, starts[i], counts[i]))
        << i;
    forget();
    EXPECT_EQ(read(placed, starts[i], counts[i]),
              expected(placed.variable.shape, starts[i], counts[i]))
        << i << ", from disk";
  }
}

TEST_F(PlainSourceTest, ReadsAnyBox) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  const Placed placed = write({24, 60, 700});
  for (int round = 0; round < 40; ++round) {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
    for (std::size_t d = 0; d < 3; ++d) {
      start.push_back(draw(generator, 0, placed.variable.shape.extent.at(d)));
      count.push_back(draw(generator, 0, placed.variable.shape.extent.at(d) - start[d]));
    }
    if (draw(generator, 0, 1) == 0) {
      forget();
    }
    ASSERT_EQ(read(placed, start, count), expected(placed.variable.shape, start, count));
  }
}

TEST_F(PlainSourceTest, ReadsNothingOfAnEmptyBox) {
  const Placed placed = write({4, 4, 4});
  EXPECT_TRUE(read(placed, {1, 1, 1}, {1, 0, 2}).empty());
}

TEST_F(PlainSourceTest, SaysWhereAFileEndsTooEarly) {
  const Placed placed = write({4, 4, 4});
  ASSERT_EQ(::truncate(path_.c_str(), offset + 100), 0);
  EXPECT_EQ(read(placed, {0, 0, 0}, {1, 4, 4}),
            expected(placed.variable.shape, {0, 0, 0}, {1, 4, 4}));
  try {
    (void)read(placed, {0, 0, 0}, {4, 4, 4});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::storage_failure);
    EXPECT_EQ(std::string{error.what()},
              "cannot read " + path_ + ": it ends at byte 612, 156 bytes too early");
  }
}

TEST_F(PlainSourceTest, SaysWhenThereIsNoFile) {
  EXPECT_THROW(PlainSource{Path{folder_ / "none"}}, Error);
}

TEST_F(PlainSourceTest, SaysWhenNobodyKnowsWhereAVariableLies) {
  Placed placed = write({4, 4, 4});
  placed.offset = -1;
  EXPECT_THROW((void)read(placed, {0, 0, 0}, {1, 1, 1}), Error);
}

TEST_F(PlainSourceTest, CannotTellWhatAFileContains) {
  (void)write({4, 4, 4});
  try {
    (void)PlainSource{Path{path_}}.inventory();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
  }
}

}  // namespace
}  // namespace iocomp::formats
