#include "array/subtract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "array/box.h"
#include "array/decomposition.h"
#include "array/region.h"
#include "array/run_list.h"
#include "array/runs.h"
#include "random_block.h"
#include "unit/seed.h"

namespace iocomp::array {
namespace {

struct Known {
  Region region;
  std::vector<bool> has;  // by element of the array
};

Known known(const RandomBlock& block) {
  Known result{block.box, std::vector<bool>(static_cast<std::size_t>(elements(block.shape)))};
  for (const std::int64_t index : block.indices) {
    result.has[static_cast<std::size_t>(index)] = true;
  }
  return result;
}

// A box, or runs of random lengths.
template <typename Generator>
Known random_region(Generator& generator, const Shape& shape) {
  if (draw(generator, 0, 1) == 0) {
    Extents start{};
    Extents count{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
      start[d] = draw(generator, 0, static_cast<int>(shape.extent[d]));
      count[d] = draw(generator, 0, static_cast<int>(shape.extent[d] - start[d]));
    }
    return known(enumerate(shape, make_box(shape, start.data(), count.data())));
  }
  std::vector<bool> has(static_cast<std::size_t>(elements(shape)));
  std::vector<std::int64_t> map;
  const int length = static_cast<int>(draw(generator, 1, 9));
  bool inside = false;
  for (std::size_t i = 0; i < has.size(); ++i) {
    inside = draw(generator, 1, length) == 1 ? !inside : inside;
    has[i] = inside;
    if (inside) {
      map.push_back(static_cast<std::int64_t>(i));
    }
  }
  return {decompose_map(shape, map).runs, has};
}

std::vector<bool> elements_of(const RunList& runs, const Shape& shape) {
  std::vector<bool> has(static_cast<std::size_t>(elements(shape)));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run run = runs.run(i);
    std::fill_n(has.begin() + run.index, run.elements, true);
  }
  return has;
}

TEST(Subtract, LeavesWhatNoneOfTheOthersHas) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 500; ++i) {
    const Shape shape = random_block(generator).shape;
    const Known one = random_region(generator, shape);
    std::vector<bool> expected = one.has;
    std::vector<Region> others;
    for (auto left = draw(generator, 0, 4); left > 0; --left) {
      const Known other = random_region(generator, shape);
      bool meets = false;
      for (std::size_t e = 0; e < expected.size(); ++e) {
        meets = meets || (one.has[e] && other.has[e]);
        expected[e] = expected[e] && !other.has[e];
      }
      if (!one.region.runs && !other.region.runs) {
        ASSERT_EQ(may_meet(shape, one.region, other.region), meets);
      } else if (meets) {
        ASSERT_TRUE(may_meet(shape, one.region, other.region));
      }
      others.push_back(other.region);
    }
    const RunList left = subtract(shape, one.region, others);
    ASSERT_EQ(elements_of(left, shape), expected) << text(one.region) << " in " << text(shape);
    ASSERT_EQ(left.elements(), std::ranges::count(expected, true));
    for (std::size_t run = 1; run < left.size(); ++run) {
      ASSERT_LT(left.run(run - 1).index + left.run(run - 1).elements, left.run(run).index);
    }
  }
}

// Of 2^60 elements: it cannot be walked over element by element.
TEST(Subtract, WalksOverRunsOnly) {
  const std::int64_t extents[] = {std::int64_t{1} << 10, std::int64_t{1} << 50};
  const Shape shape = make_shape(2, extents);
  const std::int64_t start[] = {5, 7};
  const std::int64_t count[] = {2, 1};
  const Region hole = make_box(shape, start, count);
  const RunList left = subtract(shape, whole(shape), std::span{&hole, 1});
  EXPECT_EQ(left.size(), 3U);
  EXPECT_EQ(left.elements(), elements(shape) - 2);
}

}  // namespace
}  // namespace iocomp::array
