// SPDX-License-Identifier: BSD-3-Clause
#include "writing/stripes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/byte_order.h"
#include "array/pieces.h"
#include "array/runs.h"
#include "base/error.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "unit/seed.h"
#include "writing/piece.h"

namespace iocomp::writing {
namespace {

constexpr std::int64_t kib = 1024;

contents::Variable variable(std::vector<std::int64_t> extent) {
  contents::Variable made;
  made.type = array::ElementType::int64;
  made.shape = array::make_shape(static_cast<int>(extent.size()), extent.data());
  return made;
}

std::shared_ptr<Piece> piece(const contents::Variable& of, const array::Box& box,
                             std::int64_t first, std::int64_t count) {
  auto made = std::make_shared<Piece>();
  made->variable = of;
  made->region = box;
  made->first = first;
  made->elements_left = count;
  made->offset = 0;
  return made;
}

std::shared_ptr<Piece> whole_piece(const contents::Variable& of, std::vector<std::int64_t> start,
                                   std::vector<std::int64_t> count) {
  const auto box = array::make_box(of.shape, start.data(), count.data());
  return piece(of, box, 0, array::elements(box));
}

/// The values of a piece: each is its global index, and one more.
std::vector<std::int64_t> values(const Piece& of, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> made;
  array::RunCursor cursor{of.variable.shape, of.region, first, count};
  array::Run run;
  while (cursor.next(run)) {
    for (std::int64_t i = 0; i < run.elements; ++i) {
      made.push_back(run.index + i + 1);
    }
  }
  return made;
}

std::int64_t byte_swapped(std::int64_t value) {
  array::swap_bytes(std::as_writable_bytes(std::span{&value, 1}), sizeof value);
  return value;
}

/// Stripes of this process alone.
struct Private {
  explicit Private(std::size_t arena_bytes) : arena{arena_bytes}, memory{arena} {}
  staging::Arena arena;
  staging::ArenaStripes memory;
};

Stripes::Terms terms(std::int64_t bytes, bool may_overlap = false, bool swaps_bytes = false) {
  return {.file = 1,
          .bytes = bytes,
          .run_bytes = Stripes::long_run_bytes(bytes),
          .may_overlap = may_overlap,
          .swaps_bytes = swaps_bytes};
}

/// A file that counts how often each element was written.
struct Written {
  explicit Written(std::int64_t elements)
      : value(static_cast<std::size_t>(elements)), times(static_cast<std::size_t>(elements)) {}
  void add(std::int64_t index, std::int64_t what) {
    value.at(static_cast<std::size_t>(index)) = what;
    ++times.at(static_cast<std::size_t>(index));
  }
  void add(const Stripe& stripe) {
    for (const auto& run : stripe.runs()) {
      for (std::int64_t i = 0; i < run.elements; ++i) {
        std::int64_t found = 0;
        std::memcpy(&found, stripe.bytes + (run.index + i - stripe.begin) * 8, 8);
        add(run.index + i, found);
      }
    }
  }
  std::vector<std::int64_t> value;
  std::vector<int> times;
};

void take(Stripes& stripes, const std::shared_ptr<Piece>& of, std::int64_t first,
          std::int64_t count, Written& file) {
  const auto put = values(*of, first, count);
  Chunk chunk;
  chunk.piece = of;
  chunk.first = first;
  chunk.count = count;
  chunk.bytes = std::as_bytes(std::span{put});
  stripes.take(chunk, 0);
  for (const auto& stripe : stripes.take_full()) {
    EXPECT_EQ(stripe.runs().size(), 1U);
    file.add(stripe);
  }
  // Values that find no room are left in the chunk.
  ASSERT_EQ(std::ssize(chunk.bytes), chunk.count * 8);
  array::RunCursor cursor{of->variable.shape, of->region, chunk.first, chunk.count};
  array::Run run;
  const std::byte* from = chunk.bytes.data();
  while (cursor.next(run)) {
    for (std::int64_t i = 0; i < run.elements; ++i, from += 8) {
      std::int64_t found = 0;
      std::memcpy(&found, from, 8);
      file.add(run.index + i, found);
    }
  }
}

TEST(Stripes, AreWrittenAsOneWhenAllOfTheirPiecesAreThere) {
  Private own{1 << 20};
  Stripes stripes{own.memory, terms(64 * kib)};
  const auto of = variable({64, 128});  // 64 KiB
  const auto left = whole_piece(of, {0, 0}, {64, 64});
  const auto right = whole_piece(of, {0, 64}, {64, 64});
  stripes.choose(*left, 0, 64 * 128);
  stripes.choose(*right, 0, 64 * 128);
  ASSERT_TRUE(left->is_joined() && right->is_joined());
  Written file{64 * 128};
  take(stripes, right, 0, 64 * 64, file);
  EXPECT_TRUE(stripes.has_open());
  EXPECT_EQ(std::ranges::count(file.times, 0), 64 * 128);
  take(stripes, left, 0, 64 * 64, file);
  EXPECT_FALSE(stripes.has_open());
  EXPECT_EQ(std::ranges::count(file.times, 1), 64 * 128);
}

TEST(Stripes, ThatMayOverlapAreNotTakenForFullByTheirCount) {
  Private own{1 << 20};
  Stripes stripes{own.memory, terms(64 * kib, true)};
  const auto of = variable({64, 128});
  const auto left = whole_piece(of, {0, 0}, {64, 64});
  stripes.choose(*left, 0, 64 * 128);
  const auto put = values(*left, 0, 64 * 64);
  for (int time = 0; time < 2; ++time) {  // half of the stripe, twice
    Chunk chunk;
    chunk.piece = left;
    chunk.count = 64 * 64;
    chunk.bytes = std::as_bytes(std::span{put});
    stripes.take(chunk, 0);
  }
  Written file{64 * 128};
  for (const auto& stripe : stripes.take_full()) {
    file.add(stripe);
  }
  EXPECT_FALSE(stripes.has_open());
  EXPECT_EQ(std::ranges::count(file.times, 1), 64 * 64);
  EXPECT_EQ(std::ranges::count(file.times, 0), 64 * 64);
}

TEST(Stripes, HoldBytesInTheOrderOfTheFile) {
  Private own{1 << 20};
  Stripes stripes{own.memory, terms(64 * kib, false, true)};
  const auto of = variable({64, 128});
  const auto columns = whole_piece(of, {0, 3}, {64, 2});
  stripes.choose(*columns, 0, 64 * 128);
  Written file{64 * 128};
  take(stripes, columns, 0, 128, file);
  file.add(stripes.withdraw_oldest().front());
  for (std::size_t row = 0; row < 64; ++row) {
    for (std::size_t column = 3; column < 5; ++column) {
      const std::size_t index = row * 128 + column;
      EXPECT_EQ(file.value.at(index), byte_swapped(static_cast<std::int64_t>(index) + 1)) << index;
    }
  }
  EXPECT_EQ(std::ranges::count(file.times, 1), 128);
}

TEST(Stripes, LeaveLongRunsAndWholeBlocksAlone) {
  Private own{1 << 20};
  const Stripes stripes{own.memory, terms(64 * kib)};
  const auto of = variable({64, 4096});
  const auto rows = whole_piece(of, {0, 0}, {8, 4096});
  const auto long_runs = whole_piece(of, {0, 0}, {64, 4000});
  const auto columns = whole_piece(of, {0, 0}, {64, 16});
  for (const auto& one : {rows, long_runs, columns}) {
    stripes.choose(*one, 0, 64 * 4096);
  }
  EXPECT_FALSE(rows->is_joined());
  EXPECT_FALSE(long_runs->is_joined());
  EXPECT_TRUE(columns->is_joined());
  const Stripes none{own.memory, terms(0)};
  const auto column = whole_piece(of, {0, 0}, {64, 1});
  none.choose(*column, 0, 64 * 4096);
  EXPECT_FALSE(column->is_joined());
}

TEST(Stripes, LeaveAloneWhatLiesOutsideTheDomain) {
  Private own{1 << 20};
  const Stripes stripes{own.memory, terms(64 * kib)};
  const auto of = variable({64, 128});
  const auto columns = whole_piece(of, {0, 0}, {64, 16});
  stripes.choose(*columns, 0, 32 * 128);
  EXPECT_FALSE(columns->is_joined());
}

TEST(Stripes, UseAtMostHalfOfTheArena) {
  Private own{288 * kib};
  Stripes stripes{own.memory, terms(64 * kib)};
  const auto of = variable({512, 128});  // 8 stripes
  const auto column = whole_piece(of, {0, 0}, {512, 1});
  stripes.choose(*column, 0, 512 * 128);
  Written file{512 * 128};
  EXPECT_TRUE(stripes.has_room(*column, 0));
  take(stripes, column, 0, 512, file);
  EXPECT_LE(own.arena.peak_bytes(), 144 * kib);
  EXPECT_TRUE(stripes.has_room(*column, 0));
  EXPECT_FALSE(stripes.has_room(*column, 511));
  file.add(stripes.withdraw_oldest().front());
  EXPECT_TRUE(stripes.has_room(*column, 511));
  for (const auto& stripe : stripes.withdraw_step(0)) {
    file.add(stripe);
  }
  EXPECT_EQ(std::ranges::count(file.times, 1), 512);
}

TEST(Stripes, AreTakenByStepAndByTime) {
  Private own{1 << 20};
  Stripes stripes{own.memory, terms(64 * kib)};
  const auto of = variable({64, 128});
  for (std::int64_t step = 0; step < 3; ++step) {
    const auto column = whole_piece(of, {0, 0}, {64, 1});
    column->step = step;
    column->giver.rank = static_cast<int>(step);
    stripes.choose(*column, 0, 64 * 128);
    const auto put = values(*column, 0, 64);
    Chunk chunk;
    chunk.piece = column;
    chunk.count = 64;
    chunk.bytes = std::as_bytes(std::span{put});
    stripes.take(chunk, 10.0 + static_cast<double>(step));
  }
  EXPECT_EQ(stripes.oldest(), 10);
  const auto of_first = [](const Stripe& stripe) { return stripe.step == 0; };
  EXPECT_TRUE(stripes.withdraw_late(10.04, of_first).empty());
  EXPECT_TRUE(stripes.withdraw_late(10.5, [](const Stripe&) { return false; }).empty());
  EXPECT_EQ(stripes.withdraw_late(10.06, of_first).size(), 1U);
  EXPECT_EQ(stripes.withdraw_step(1).size(), 1U);
  EXPECT_EQ(stripes.withdraw_oldest().front().step, 2);
  EXPECT_FALSE(stripes.has_open());
  EXPECT_EQ(own.arena.used_bytes(), 0U);
}

TEST(Stripes, OfStepsThatAreOverEndWithThemAndNoOthersDo) {
  Private own{1 << 20};
  Stripes stripes{own.memory, terms(64 * kib)};
  const auto of = variable({64, 128});
  std::vector<std::string> ended(4);
  for (std::int64_t step = 0; step < 4; ++step) {
    const auto column = whole_piece(of, {0, 0}, {64, 1});
    column->step = step;
    column->ended = [&ended, step](const auto& piece) {
      ended[static_cast<std::size_t>(step)] = piece->failure.ok() ? "well" : piece->failure.story;
    };
    stripes.choose(*column, 0, 64 * 128);
    const auto put = values(*column, 0, 64);
    Chunk chunk;
    chunk.piece = column;
    chunk.count = 64;
    chunk.bytes = std::as_bytes(std::span{put});
    stripes.take(chunk, 0);
    EXPECT_EQ(column->elements_with_others, 64);
  }
  stripes.settle(1, 3, {ErrorCode::storage_failure, "dropped"});
  EXPECT_EQ(ended, (std::vector<std::string>{"", "dropped", "dropped", ""}));
  EXPECT_EQ(stripes.unclaimed(0), 64);
  EXPECT_EQ(stripes.unclaimed(1), 0);
  EXPECT_EQ(stripes.unclaimed(2), 0);
  EXPECT_EQ(stripes.unclaimed(3), 64);
  stripes.settle(0, 4, {});
  EXPECT_EQ(ended, (std::vector<std::string>{"well", "dropped", "dropped", "well"}));
  EXPECT_EQ(own.arena.used_bytes(), 0U);
}

// Blocks that cover an array: its dimensions cut at random places.
std::vector<array::Box> covering_blocks(std::mt19937& generator, const array::Shape& shape) {
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
  std::ranges::shuffle(blocks, generator);
  return blocks;
}

TEST(Stripes, WriteEveryElementOnceWhateverTheBlocksTheOrderAndTheMemory) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 generator{seed};
  for (int round = 0; round < 60; ++round) {
    const auto of =
        variable({draw(generator, 1, 12), draw(generator, 1, 40), draw(generator, 1, 120)});
    const std::int64_t all = array::elements(of.shape);
    const int parts = static_cast<int>(draw(generator, 1, 4));
    const auto domains = array::divide(of.shape, 8, parts, draw(generator, 0, 1) * 4096 + 8);
    const bool has_holes = draw(generator, 0, 3) == 0;
    const auto capacity = static_cast<std::size_t>(draw(generator, 4, 64)) * 4 * kib;
    Written file{all};
    std::vector<int> put(static_cast<std::size_t>(all));
    for (int part = 0; part < parts; ++part) {  // a server each
      Private own{capacity};
      Stripes stripes{own.memory, terms(draw(generator, 1, 16) * 4 * kib)};
      struct Left {
        std::shared_ptr<Piece> piece;
        std::int64_t next;
      };
      std::vector<Left> left;
      for (const auto& box : covering_blocks(generator, of.shape)) {
        for (const auto& cut : array::cut(of.shape, box, domains)) {
          if (cut.part == part && !(has_holes && draw(generator, 0, 2) == 0)) {
            left.push_back({piece(of, box, cut.first, cut.count), cut.first});
            stripes.choose(*left.back().piece, domains.begin(part), domains.begin(part + 1));
            for (const auto value : values(*left.back().piece, cut.first, cut.count)) {
              ++put[static_cast<std::size_t>(value - 1)];
            }
          }
        }
      }
      while (!left.empty()) {
        auto& [of_piece, next] =
            left[static_cast<std::size_t>(draw(generator, 0, std::ssize(left) - 1))];
        const std::int64_t end = of_piece->first + of_piece->elements_left;
        const std::int64_t count = draw(generator, 1, end - next);
        if (of_piece->is_joined()) {
          take(stripes, of_piece, next, count, file);
        } else {
          for (const auto value : values(*of_piece, next, count)) {
            file.add(value - 1, value);
          }
        }
        ASSERT_LE(2 * own.arena.used_bytes(), own.arena.capacity_bytes());
        next += count;
        std::erase_if(left, [](const Left& one) {
          return one.next == one.piece->first + one.piece->elements_left;
        });
        if (draw(generator, 0, 20) == 0 && stripes.has_open()) {
          file.add(stripes.withdraw_oldest().front());
        }
      }
      for (const auto& stripe : stripes.withdraw_step(0)) {
        file.add(stripe);
      }
      ASSERT_EQ(own.arena.used_bytes(), 0U);
    }
    ASSERT_EQ(file.times, put) << "round " << round;
    for (std::int64_t i = 0; i < all; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(file.value[at], put[at] == 0 ? 0 : i + 1) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace iocomp::writing
