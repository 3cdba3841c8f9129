// SPDX-License-Identifier: BSD-3-Clause
#include "array/scatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "random_block.h"
#include "unit/seed.h"

namespace iocomp::array {
namespace {

std::vector<std::byte> long_pattern(std::size_t bytes) {
  std::vector<std::byte> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    all[i] = static_cast<std::byte>(i * 7 + i / 256 + 1);
  }
  return all;
}

/// Byte by byte, into memory that begins at `begin`.
std::vector<std::byte> expected(const RandomBlock& block, const PackedElements& packed,
                                std::size_t swapped, std::size_t bytes, std::int64_t begin) {
  std::vector<std::byte> memory(bytes);
  const std::byte* from = packed.bytes;
  for (std::int64_t i = packed.first; i < packed.first + packed.count; ++i) {
    const auto at = static_cast<std::size_t>(block.indices.at(static_cast<std::size_t>(i)) - begin);
    const auto to = memory.begin() + static_cast<std::ptrdiff_t>(at * packed.element_bytes);
    std::copy_n(from, packed.element_bytes, to);
    for (std::size_t n = 0; swapped > 0 && n < packed.element_bytes; n += swapped) {
      const auto number = to + static_cast<std::ptrdiff_t>(n);
      std::reverse(number, number + static_cast<std::ptrdiff_t>(swapped));
    }
    from += packed.element_bytes;
  }
  return memory;
}

void check(const RandomBlock& block, std::int64_t first, std::int64_t count, std::size_t skew) {
  const Region region{block.box};
  for (const std::size_t element : {1U, 2U, 4U, 8U, 16U}) {
    const auto values = long_pattern(static_cast<std::size_t>(count) * element);
    const PackedElements packed{block.shape, region, first, count, element, values.data()};
    const std::int64_t begin = count == 0 ? 0 : block.indices.at(static_cast<std::size_t>(first));
    const std::size_t bytes = static_cast<std::size_t>(elements(block.shape) - begin) * element;
    for (const std::size_t swapped : {std::size_t{0}, element, element / 2}) {
      if (swapped > 8) {
        continue;  // not a number
      }
      std::vector<std::byte> memory(skew + bytes);
      scatter(packed, swapped, memory.data() + skew, begin);
      memory.erase(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(skew));
      ASSERT_EQ(memory, expected(block, packed, swapped, bytes, begin))
          << element << " bytes, skew " << skew << ", swapped " << swapped;
    }
  }
}

TEST(Scatter, PutsEveryElementOfRandomPartsIntoPlace) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 generator{seed};
  for (int i = 0; i < 300; ++i) {
    const RandomBlock block = random_block(generator);
    const auto all = static_cast<std::int64_t>(block.indices.size());
    const auto first = draw(generator, 0, all);
    ASSERT_NO_FATAL_FAILURE(check(block, first, draw(generator, 0, all - first),
                                  static_cast<std::size_t>(draw(generator, 0, 1))));
  }
}

TEST(Scatter, PutsLongRunsIntoPlaceWhereverTheyBegin) {
  const std::vector<std::int64_t> extent{7, 400};
  const Shape shape = make_shape(2, extent.data());
  for (const std::int64_t from : {0, 1, 17, 64}) {
    const std::vector<std::int64_t> start{1, from};
    for (const std::int64_t columns : {31, 256, 333}) {
      const std::vector<std::int64_t> count{5, columns};
      const RandomBlock block = enumerate(shape, make_box(shape, start.data(), count.data()));
      for (const std::size_t skew : {0U, 1U, 8U, 24U}) {
        ASSERT_NO_FATAL_FAILURE(check(block, 3, 5 * columns - 5, skew));
      }
    }
  }
}

}  // namespace
}  // namespace iocomp::array
