// SPDX-License-Identifier: BSD-3-Clause
#include "array/coverage.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/decomposition.h"
#include "array/region.h"
#include "array/run_list.h"
#include "random_block.h"
#include "unit/seed.h"

namespace iocomp::array {
namespace {

// Element by element.
Cover reference_cover(const Shape& shape, const std::vector<std::int64_t>& indices) {
  Cover sum;
  for (const std::int64_t index : indices) {
    RunList one;
    one.append({index, 1});
    add(sum, cover_of(shape, std::make_shared<const RunList>(one)));
  }
  return sum;
}

TEST(Cover, OfABoxIsTheSumOverItsElements) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 300; ++i) {
    const RandomBlock block = random_block(generator);
    ASSERT_EQ(cover_of(block.shape, block.box), reference_cover(block.shape, block.indices))
        << text(block.box) << " in " << text(block.shape);
    ASSERT_EQ(cover_of(block.shape, whole(block.shape)), cover_of_all(block.shape));
    ASSERT_EQ(cover_of(block.shape, decompose(block.shape, block.indices).runs),
              cover_of(block.shape, block.box));
  }
}

TEST(Cover, OfPartsAddsUpToThatOfTheWholeOnlyWhereEachElementIsThereOnce) {
  const std::int64_t extents[] = {std::int64_t{1} << 21, std::int64_t{1} << 20,
                                  std::int64_t{1} << 20};
  const Shape shape = make_shape(3, extents);
  // Slabs of 2^59 elements, one of them where another is already.
  const auto slab = [&](std::int64_t first) {
    const std::int64_t start[] = {first, 0, 0};
    const std::int64_t count[] = {std::int64_t{1} << 19, extents[1], extents[2]};
    return cover_of(shape, make_box(shape, start, count));
  };
  Cover right;
  Cover wrong;
  for (std::int64_t i = 0; i < 4; ++i) {
    add(right, slab(i << 19));
    add(wrong, slab((i == 3 ? 1 : i) << 19));
  }
  EXPECT_EQ(right, cover_of_all(shape));
  EXPECT_EQ(wrong.elements, right.elements);
  EXPECT_NE(wrong, right);
}

TEST(Coverage, AgreesWithCountingEveryElement) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 1000; ++i) {
    const RandomBlock first = random_block(generator);
    std::vector<Part> parts;
    std::vector<int> times(static_cast<std::size_t>(elements(first.shape)), 0);
    for (auto left = draw(generator, 0, 3); left > 0; --left) {
      Box box = first.box;
      for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
        box.start[d] = draw(generator, 0, first.shape.extent[d] - box.count[d]);
      }
      const RandomBlock block = enumerate(first.shape, box);
      const auto all = std::ssize(block.indices);
      const std::int64_t begin = draw(generator, 0, all);
      const std::int64_t count = draw(generator, 0, all - begin);
      parts.push_back({box, begin, count});
      for (std::int64_t k = begin; k < begin + count; ++k) {
        ++times[static_cast<std::size_t>(block.indices[static_cast<std::size_t>(k)])];
      }
    }
    const Coverage found = coverage_of(first.shape, parts);
    std::int64_t twice = -1;
    std::vector<std::int64_t> holes;
    for (std::int64_t index = 0; index < std::ssize(times); ++index) {
      const int here = times[static_cast<std::size_t>(index)];
      twice = twice < 0 && here > 1 ? index : twice;
      if (here == 0) {
        holes.push_back(index);
      }
    }
    ASSERT_EQ(found.overlap.has_value(), twice >= 0);
    if (found.overlap) {
      ASSERT_EQ(found.overlap->index, twice);
      ASSERT_NE(found.overlap->one, found.overlap->other);
    }
    ASSERT_EQ(found.holes.elements(), std::ssize(holes));
    ASSERT_EQ(cover_of(first.shape, std::make_shared<const RunList>(found.holes)),
              reference_cover(first.shape, holes));
  }
}

TEST(Coverage, OfNothingIsOneHole) {
  const std::int64_t extent = 7;
  const Coverage found = coverage_of(make_shape(1, &extent), {});
  ASSERT_EQ(found.holes.size(), 1U);
  EXPECT_EQ(found.holes.elements(), 7);
}

}  // namespace
}  // namespace iocomp::array
