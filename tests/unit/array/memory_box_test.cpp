// SPDX-License-Identifier: BSD-3-Clause
#include "array/memory_box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "random_block.h"

namespace iocomp::array {
namespace {

Box block_of(const std::vector<std::int64_t>& count) {
  const std::vector<std::int64_t> zeros(count.size(), 0);
  const Shape shape = make_shape(static_cast<int>(count.size()), count.data());
  return make_box(shape, zeros.data(), count.data());
}

TEST(MemoryBox, IsDenseWithoutPointers) {
  const MemoryBox memory = make_memory_box(block_of({3, 4}), nullptr, nullptr);
  EXPECT_EQ(text(memory.shape), "3 x 4");
  EXPECT_EQ(text(memory.box), "[0:3, 0:4]");
}

TEST(MemoryBox, ForgetsWhereTheBlockIsInTheGlobalArray) {
  const std::int64_t extent = 100;
  const Shape shape = make_shape(1, &extent);
  const std::int64_t start = 90;
  const std::int64_t count = 5;
  const MemoryBox memory = make_memory_box(make_box(shape, &start, &count), nullptr, nullptr);
  EXPECT_EQ(text(memory.box), "[0:5]");
}

TEST(MemoryBox, NamesTheDimensionInWhichTheBlockLeavesTheLocalArray) {
  const std::array<std::int64_t, 2> shape{5, 5};
  const std::array<std::int64_t, 2> start{1, 2};
  try {
    (void)make_memory_box(block_of({3, 4}), shape.data(), start.data());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(std::string{error.what()},
              "the block does not lie in the local array: in dimension 1 it starts at 2 and has 4 "
              "elements, the local array has 5");
  }
}

TEST(MemoryBox, NeedsBothPointersOrNone) {
  const std::int64_t number = 3;
  EXPECT_THROW((void)make_memory_box(block_of({3}), &number, nullptr), Error);
  EXPECT_THROW((void)make_memory_box(block_of({3}), nullptr, &number), Error);
}

TEST(MemoryBox, OfAScalarMayHavePointersOrNot) {
  const std::int64_t unused = 0;
  EXPECT_EQ(elements(make_memory_box(Box{}, &unused, &unused).box), 1);
  EXPECT_EQ(elements(make_memory_box(Box{}, &unused, nullptr).box), 1);
}

TEST(Pack, AgreesWithCopyingEveryElement) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  constexpr std::array<std::size_t, 6> sizes{1, 2, 3, 4, 8, 16};
  for (int i = 0; i < 3000; ++i) {
    const RandomBlock block = random_block(generator);
    const MemoryBox memory{.shape = block.shape, .box = block.box};
    const std::size_t size = sizes.at(static_cast<std::size_t>(draw(generator, 0, 5)));
    std::vector<std::byte> local(static_cast<std::size_t>(elements(block.shape)) * size);
    for (std::byte& byte : local) {
      byte = static_cast<std::byte>(generator());
    }
    const auto all = static_cast<std::int64_t>(block.indices.size());
    const std::int64_t first = draw(generator, 0, all);
    const std::int64_t count = draw(generator, 0, all - first);
    std::vector<std::byte> expected;
    for (std::int64_t n = first; n < first + count; ++n) {
      const auto at = static_cast<std::ptrdiff_t>(
          static_cast<std::size_t>(block.indices[static_cast<std::size_t>(n)]) * size);
      expected.insert(expected.end(), local.begin() + at,
                      local.begin() + at + static_cast<std::ptrdiff_t>(size));
    }
    std::vector<std::byte> packed(expected.size());
    pack(memory, size, local.data(), first, count, packed.data());
    ASSERT_EQ(packed, expected) << text(block.box) << " in " << text(block.shape) << ", " << count
                                << " from " << first << " of " << size << " bytes";
    std::vector<std::byte> back = local;
    for (std::int64_t n = first; n < first + count; ++n) {
      const auto at = static_cast<std::size_t>(block.indices[static_cast<std::size_t>(n)]) * size;
      std::fill_n(back.begin() + static_cast<std::ptrdiff_t>(at), size, std::byte{});
    }
    unpack(memory, size, packed.data(), first, count, back.data());
    ASSERT_EQ(back, local) << "unpacked";
  }
}

}  // namespace
}  // namespace iocomp::array
