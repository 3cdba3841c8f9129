// SPDX-License-Identifier: BSD-3-Clause
#include "array/paired_runs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
#include "random_block.h"

namespace iocomp::array {
namespace {

std::vector<PairedRun> all_runs(const Shape& shape, const Box& box, const MemoryBox& memory) {
  PairedRuns runs{shape, box, memory};
  std::vector<PairedRun> all;
  PairedRun run;
  while (runs.next(run)) {
    all.push_back(run);
  }
  return all;
}

Box box_of(const Shape& shape, const std::vector<std::int64_t>& start,
           const std::vector<std::int64_t>& count) {
  return make_box(shape, start.data(), count.data());
}

TEST(PairedRuns, OfRowsAreAsLongAsTheRows) {
  const std::int64_t extent[] = {4, 10};
  const Shape shape = make_shape(2, extent);
  const Box box = box_of(shape, {1, 2}, {2, 5});
  EXPECT_EQ(all_runs(shape, box, make_memory_box(box, nullptr, nullptr)),
            (std::vector<PairedRun>{{12, 0, 5}, {22, 5, 5}}));
}

TEST(PairedRuns, EndWhereEitherSideEnds) {
  const std::int64_t extent[] = {4, 10};
  const Shape shape = make_shape(2, extent);
  const Box rows = box_of(shape, {1, 0}, {2, 10});  // one run in the file
  const std::int64_t local[] = {2, 12};
  const std::int64_t at[] = {0, 1};
  EXPECT_EQ(all_runs(shape, rows, make_memory_box(rows, local, at)),
            (std::vector<PairedRun>{{10, 1, 10}, {20, 13, 10}}));
}

TEST(PairedRuns, OfAnEmptyBoxAreNone) {
  const std::int64_t extent[] = {4, 10};
  const Shape shape = make_shape(2, extent);
  const Box box = box_of(shape, {1, 2}, {0, 5});
  EXPECT_TRUE(all_runs(shape, box, make_memory_box(box, nullptr, nullptr)).empty());
}

TEST(PairedRuns, OfAScalarAreOne) {
  const Shape shape;
  const Box box;
  EXPECT_EQ(all_runs(shape, box, make_memory_box(box, nullptr, nullptr)),
            (std::vector<PairedRun>{{0, 0, 1}}));
}

TEST(PairedRuns, AgreeWithLookingAtEveryElement) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 random{seed};
  for (int round = 0; round < 300; ++round) {
    const RandomBlock global = random_block(random);
    MemoryBox memory{{global.box.dimensions, {}}, {global.box.dimensions, {}, global.box.count}};
    for (std::size_t d = 0; d < static_cast<std::size_t>(global.box.dimensions); ++d) {
      memory.box.start.at(d) = static_cast<std::int64_t>(random() % 3);
      memory.shape.extent.at(d) =
          memory.box.start.at(d) + global.box.count.at(d) + static_cast<std::int64_t>(random() % 3);
    }
    std::vector<std::int64_t> in_file;
    std::vector<std::int64_t> in_memory;
    for (const auto& run : all_runs(global.shape, global.box, memory)) {
      EXPECT_GT(run.elements, 0);
      for (std::int64_t i = 0; i < run.elements; ++i) {
        in_file.push_back(run.index + i);
        in_memory.push_back(run.local_index + i);
      }
    }
    ASSERT_EQ(in_file, global.indices);
    ASSERT_EQ(in_memory, enumerate(memory.shape, memory.box).indices);
  }
}

}  // namespace
}  // namespace iocomp::array
