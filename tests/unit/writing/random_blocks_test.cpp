// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/byte_order.h"
#include "disk/options.h"
#include "unit/seed.h"
#include "unit/writing/pieces.h"
#include "unit/writing/written_file.h"
#include "writing/file_writer.h"

namespace iocomp::writing {
namespace {

// Blocks that cover an array of three dimensions: each cut at a random place.
std::vector<array::Box> random_blocks(std::mt19937& generator, const array::Shape& shape) {
  std::vector<array::Box> blocks{{shape.dimensions, {}, shape.extent}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
    std::vector<array::Box> halves;
    const std::int64_t border = draw(generator, 0, shape.extent[d]);
    for (auto box : blocks) {
      box.count[d] = border;
      halves.push_back(box);
      box.start[d] = border;
      box.count[d] = shape.extent[d] - border;
      halves.push_back(box);
    }
    blocks = halves;
  }
  std::erase_if(blocks, [](const auto& box) { return array::elements(box) == 0; });
  std::ranges::shuffle(blocks, generator);
  return blocks;
}

class RandomBlocks : public testing::TestWithParam<disk::EngineKind> {};

TEST_P(RandomBlocks, AreInTheFileWhateverTheirOrderAndTheByteOrder) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 generator{seed};
  for (int round = 0; round < 30; ++round) {
    const bool swaps = draw(generator, 0, 1) == 0;
    WrittenFile file{{.swaps_bytes = swaps}, GetParam()};
    const auto of =
        int64_variable({draw(generator, 1, 30), draw(generator, 1, 60), draw(generator, 1, 120)});
    const std::int64_t all = array::elements(of.shape);
    const std::int64_t offset = draw(generator, 0, 3) * 4096;
    std::vector<CountedPiece> pieces;
    std::deque<std::vector<std::int64_t>> values;
    for (const auto& box : random_blocks(generator, of.shape)) {
      const auto& piece = pieces.emplace_back(of, box, offset);
      file.stripes.choose(*piece.piece, 0, all);
      const std::int64_t elements = piece.piece->elements_left;
      for (std::int64_t first = 0; first < elements;) {
        const std::int64_t count = draw(generator, 1, elements - first);
        values.push_back(values_of(*piece.piece, first, count));
        file.writer->write(chunk_of(piece, first, values.back()));
        first += count;
      }
    }
    for (auto& stripe : file.stripes.withdraw_step(0)) {
      file.writer->write(std::move(stripe));
    }
    file.finish();
    for (const auto& piece : pieces) {
      ASSERT_EQ(*piece.ended, 1);
      ASSERT_TRUE(piece.piece->failure.ok()) << piece.piece->failure.story;
    }
    std::vector<std::int64_t> expected(static_cast<std::size_t>(all));
    std::iota(expected.begin(), expected.end(), 1);
    if (swaps) {
      array::swap_bytes(std::as_writable_bytes(std::span{expected}), sizeof(std::int64_t));
    }
    ASSERT_EQ(file.numbers(offset, all), expected) << "round " << round;
    ASSERT_EQ(file.arena.used_bytes(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, RandomBlocks,
                         testing::Values(disk::EngineKind::automatic, disk::EngineKind::threads),
                         [](const auto& tested) {
                           return tested.param == disk::EngineKind::threads ? "Threads"
                                                                            : "Automatic";
                         });

}  // namespace
}  // namespace iocomp::writing
