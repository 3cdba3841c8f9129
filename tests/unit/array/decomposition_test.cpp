// SPDX-License-Identifier: BSD-3-Clause
#include "array/decomposition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/pieces.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/error.h"
#include "unit/seed.h"

namespace iocomp::array {
namespace {

using Indices = std::vector<std::int64_t>;

Shape line(std::int64_t elements) { return make_shape(1, &elements); }

Indices visit(const Shape& shape, const Region& region, std::int64_t first, std::int64_t count) {
  Indices found;
  RunCursor cursor{shape, region, first, count};
  for (Run run; cursor.next(run);) {
    for (std::int64_t i = 0; i < run.elements; ++i) {
      found.push_back(run.index + i);
    }
  }
  return found;
}

std::vector<std::int64_t> packed_values(const Decomposition& part, const Indices& local) {
  std::vector<std::int64_t> packed(static_cast<std::size_t>(part.runs->elements()));
  const auto bytes = std::as_writable_bytes(std::span{packed});
  if (part.gather) {
    // In two parts, as a put into two domains does it.
    const std::int64_t half = part.runs->elements() / 3;
    const auto* const from = reinterpret_cast<const std::byte*>(local.data());
    part.gather->pack(sizeof(std::int64_t), from, 0, half, bytes.data());
    part.gather->pack(sizeof(std::int64_t), from, half, part.runs->elements() - half,
                      bytes.data() + static_cast<std::size_t>(half) * sizeof(std::int64_t));
  } else {
    std::copy_n(local.begin(), packed.size(), packed.begin());
  }
  return packed;
}

std::string refusal(const Shape& shape, const Indices& first, const Indices& count) {
  try {
    (void)decompose(shape, first, count);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(Decomposition, OfARandomMapVisitsItsElementsInOrderAndGathersThem) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 2000; ++i) {
    const Shape shape = line(draw(generator, 1, 200));
    Indices map(static_cast<std::size_t>(draw(generator, 0, elements(shape))));
    Indices all(static_cast<std::size_t>(elements(shape)));
    for (std::size_t k = 0; k < all.size(); ++k) {
      all[k] = static_cast<std::int64_t>(k);
    }
    if (draw(generator, 0, 1) == 0) {
      std::shuffle(all.begin(), all.end(), generator);
    }
    std::copy_n(all.begin(), map.size(), map.begin());
    for (auto& entry : map) {
      entry = draw(generator, 0, 9) == 0 ? -draw(generator, 1, 5) : entry;
    }
    Indices sorted;
    std::ranges::copy_if(map, std::back_inserter(sorted), [](auto index) { return index >= 0; });
    std::ranges::sort(sorted);

    const Decomposition part = decompose(shape, map);
    ASSERT_EQ(part.runs->elements(), std::ssize(sorted));
    ASSERT_EQ(visit(shape, part.runs, 0, std::ssize(sorted)), sorted);
    ASSERT_EQ(packed_values(part, map), sorted);  // each value is its own index

    const Domains domains{.elements = elements(shape),
                          .parts = static_cast<int>(draw(generator, 1, 5)),
                          .granule_elements = draw(generator, 1, 9)};
    Indices of_pieces;
    for (const Piece& piece : cut(shape, part.runs, domains)) {
      ASSERT_GT(piece.count, 0);
      const auto of_piece = visit(shape, part.runs, piece.first, piece.count);
      ASSERT_GE(of_piece.front(), domains.begin(piece.part));
      ASSERT_LT(of_piece.back(), domains.begin(piece.part + 1));
      const RunList own = part.runs->part(piece.first, piece.count);
      ASSERT_EQ(visit(shape, std::make_shared<const RunList>(own), 0, piece.count), of_piece);
      of_pieces.insert(of_pieces.end(), of_piece.begin(), of_piece.end());
    }
    ASSERT_EQ(of_pieces, sorted);
    const std::int64_t below = draw(generator, 0, elements(shape));
    ASSERT_EQ(part.runs->elements_below(below),
              std::ranges::count_if(sorted, [&](auto index) { return index < below; }));
  }
}

TEST(Decomposition, JoinsRunsThatTouchAndLeavesOutEmptyOnes) {
  const Decomposition part = decompose(line(100), Indices{0, 50, 5, 90}, Indices{5, 0, 10, 10});
  ASSERT_EQ(part.runs->size(), 2U);
  EXPECT_EQ(part.runs->run(0).elements, 15);
  EXPECT_EQ(part.runs->run(1).index, 90);
  EXPECT_EQ(part.gather, nullptr);
}

TEST(Decomposition, OfAscendingRunsIsPutFromWhereItLies) {
  EXPECT_EQ(decompose(line(10), Indices{1, 5}, Indices{2, 2}).gather, nullptr);
  EXPECT_NE(decompose(line(10), Indices{5, 1}, Indices{2, 2}).gather, nullptr);
  // The first element in memory is not written.
  EXPECT_NE(decompose(line(10), Indices{-1, 1, 2}).gather, nullptr);
}

TEST(Decomposition, LeavesOutRunsThatBeginBelowZero) {
  const Decomposition part = decompose(line(10), Indices{-1, 4, -7, 2}, Indices{3, 2, 1, 1});
  const Indices local{-1, -1, -1, 4, 5, -7, 2};
  EXPECT_EQ(packed_values(part, local), (Indices{2, 4, 5}));
  EXPECT_EQ(decompose(line(10), Indices{-1, -1}, Indices{3, 2}).runs->elements(), 0);
}

TEST(Decomposition, TakesSixteenBytesPerRunAndThirtyTwoOutOfOrder) {
  Indices first;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    first.push_back(3 * (9'999 - i));
  }
  const Indices count(first.size(), 2);
  const Decomposition part = decompose(line(30'000), first, count);
  EXPECT_EQ(part.runs->memory_bytes(), 16 * first.size());
  EXPECT_EQ(part.gather->memory_bytes(), 16 * first.size());
}

TEST(Decomposition, RefusesWhatLeavesTheArray) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(refusal(line(10), {0, 9}, {1, 2}).find("run 1 begins at element 9 and has 2"),
            std::string::npos);
  EXPECT_NE(refusal(line(10), {0}, {-1}), "");
  EXPECT_NE(refusal(line(10), {5}, {most}), "");
  EXPECT_NE(refusal(line(10), {most}, {most}), "");
  EXPECT_THROW((void)decompose(line(10), Indices{3, 10}), Error);
}

TEST(Decomposition, RefusesAnElementThatIsThereTwice) {
  EXPECT_NE(refusal(line(10), {4, 0}, {3, 5}).find("element 4"), std::string::npos);
  EXPECT_THROW((void)decompose(line(10), Indices{3, 2, 3}), Error);
}

TEST(Decomposition, OfNothingIsAllowed) {
  const Decomposition part = decompose(line(0), {}, {});
  EXPECT_EQ(part.runs->elements(), 0);
  EXPECT_TRUE(cut(line(0), part.runs, {.elements = 0, .parts = 3}).empty());
}

}  // namespace
}  // namespace iocomp::array
