// SPDX-License-Identifier: BSD-3-Clause
#include "array/box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "random_block.h"

namespace iocomp::array {
namespace {

using Numbers = std::vector<std::int64_t>;

Shape shape_of(const Numbers& extents) {
  return make_shape(static_cast<int>(extents.size()), extents.data());
}

template <typename Body>
std::string refusal_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was refused";
}

TEST(Shape, OfAScalarNeedsNoExtents) {
  const Shape scalar = make_shape(0, nullptr);
  EXPECT_EQ(elements(scalar), 1);
  EXPECT_EQ(text(scalar), "scalar");
}

TEST(Shape, RefusesTooManyDimensions) {
  const Numbers extents(9, 1);
  EXPECT_EQ(refusal_of([&] { (void)shape_of(extents); }),
            "an array of 9 dimensions was asked for, 0 to 8 are possible");
  EXPECT_THROW((void)make_shape(-1, extents.data()), Error);
}

TEST(Shape, RefusesANullPointer) { EXPECT_THROW((void)make_shape(1, nullptr), Error); }

TEST(Shape, NamesTheDimensionWithANegativeExtent) {
  EXPECT_EQ(refusal_of([] { (void)shape_of({4, -3}); }),
            "the extent -3 of dimension 1 is negative");
}

TEST(Shape, CountsUpTo63Bits) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(elements(shape_of({most})), most);
  EXPECT_EQ(elements(shape_of({std::int64_t{1} << 31, std::int64_t{1} << 31})),
            std::int64_t{1} << 62);
  EXPECT_EQ(refusal_of([] { (void)shape_of({std::int64_t{1} << 31, std::int64_t{1} << 32}); }),
            "an array of 2147483648 x 4294967296 has more elements than 63 bits count");
}

TEST(Shape, OfNothingMayHaveLargeExtentsBesideTheZero) {
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(elements(shape_of({large, 0, large})), 0);
  EXPECT_EQ(elements(shape_of({large, large, 0})), 0);
}

TEST(Box, MustLieInTheShape) {
  const Shape shape = shape_of({4, 16});
  const Numbers start{1, 9};
  const Numbers count{3, 8};
  EXPECT_EQ(
      refusal_of([&] { (void)make_box(shape, start.data(), count.data()); }),
      "the block does not lie in the array: in dimension 1 it starts at 9 and has 8 elements, "
      "the array has 16");
}

TEST(Box, RefusesNegativeStartsAndCounts) {
  const Shape shape = shape_of({4});
  for (const auto& [start, count] : {std::array<std::int64_t, 2>{-1, 2}, {2, -1}}) {
    EXPECT_THROW((void)make_box(shape, &start, &count), Error);
  }
}

TEST(Box, RefusesAnEndBeyond63Bits) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Shape shape = shape_of({most});
  const std::int64_t start = most - 1;
  const std::int64_t count = most - 1;
  EXPECT_THROW((void)make_box(shape, &start, &count), Error);
}

TEST(Box, MayBeEmptyAtTheVeryEnd) {
  const Shape shape = shape_of({4});
  const std::int64_t start = 4;
  const std::int64_t count = 0;
  EXPECT_EQ(elements(make_box(shape, &start, &count)), 0);
}

TEST(Box, OfAScalarNeedsNoPointers) {
  EXPECT_EQ(elements(make_box(make_shape(0, nullptr), nullptr, nullptr)), 1);
  EXPECT_THROW((void)make_box(shape_of({1}), nullptr, nullptr), Error);
}

TEST(Box, IsShownAsStartAndEndPerDimension) {
  const Shape shape = shape_of({4, 16});
  const Numbers start{0, 8};
  const Numbers count{4, 8};
  EXPECT_EQ(text(make_box(shape, start.data(), count.data())), "[0:4, 8:16]");
  EXPECT_EQ(text(shape), "4 x 16");
  EXPECT_EQ(text(Box{}), "[]");
}

TEST(ElementsBelow, AgreesWithCountingEveryElement) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 2000; ++i) {
    const RandomBlock block = random_block(generator);
    for (int n = 0; n < 10; ++n) {
      const std::int64_t index = draw(generator, -1, elements(block.shape) + 1);
      const auto below = std::ranges::lower_bound(block.indices, index) - block.indices.begin();
      ASSERT_EQ(elements_below(block.shape, block.box, index), below)
          << text(block.box) << " in " << text(block.shape) << " below " << index;
    }
  }
}

TEST(ElementsBelow, IsExactInArraysBeyond40Bits) {
  const std::int64_t side = std::int64_t{1} << 21;
  const Shape shape = shape_of({side, side, 4});
  const Numbers start{side - 2, 5, 1};
  const Numbers count{2, side - 5, 2};
  const Box box = make_box(shape, start.data(), count.data());
  const std::int64_t plane = side * 4;
  EXPECT_EQ(elements_below(shape, box, (side - 2) * plane + 5 * 4 + 1), 0);
  EXPECT_EQ(elements_below(shape, box, (side - 2) * plane + 5 * 4 + 2), 1);
  EXPECT_EQ(elements_below(shape, box, (side - 1) * plane), (side - 5) * 2);
  EXPECT_EQ(elements_below(shape, box, side * plane - 1), 2 * (side - 5) * 2);
  EXPECT_EQ(elements_below(shape, box, side * plane - 2), 2 * (side - 5) * 2 - 1);
}

TEST(IsContiguous, AgreesWithLookingAtEveryElement) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 2000; ++i) {
    const RandomBlock block = random_block(generator);
    const bool expected =
        block.indices.empty() || block.indices.back() - block.indices.front() + 1 ==
                                     static_cast<std::int64_t>(block.indices.size());
    ASSERT_EQ(is_contiguous(block.shape, block.box), expected)
        << text(block.box) << " in " << text(block.shape);
  }
}

TEST(WholeRows, TakesAsManyRowsOfTheOutermostDimensionAsFit) {
  const Box box{3, {}, {4, 5, 6}};
  EXPECT_EQ(whole_rows(box, 1000), 990);
  EXPECT_EQ(whole_rows(box, 65), 60);
  EXPECT_EQ(whole_rows(box, 29), 24);
  EXPECT_EQ(whole_rows(box, 5), 5);
  EXPECT_EQ(whole_rows({0, {}, {}}, 7), 7);
}

TEST(Check, RefusesABoxThatLiesInNoArray) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_NO_THROW(check(Box{2, {3, most - 4}, {2, 4}}));
  EXPECT_NO_THROW(check(Box{2, {}, {0, most}}));
  EXPECT_NO_THROW(check(Box{}));
  EXPECT_THROW(check(Box{-1, {}, {}}), Error);
  EXPECT_THROW(check(Box{max_dimensions + 1, {}, {}}), Error);
  EXPECT_THROW(check(Box{1, {-1}, {1}}), Error);
  EXPECT_THROW(check(Box{1, {1}, {-1}}), Error);
  EXPECT_THROW(check(Box{1, {1}, {most}}), Error);
  EXPECT_THROW(check(Box{2, {}, {most, 2}}), Error);
}

}  // namespace
}  // namespace iocomp::array
