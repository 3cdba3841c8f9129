// SPDX-License-Identifier: BSD-3-Clause
#include "array/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include "random_block.h"

namespace iocomp::array {

// For the messages of GoogleTest, which finds it by its name.
void PrintTo(const Piece& piece, std::ostream* out) {
  *out << "part " << piece.part << ": " << piece.count << " from " << piece.first;
}

namespace {

int part_of(const Domains& domains, std::int64_t index) {
  int part = 0;
  while (index >= domains.begin(part + 1)) {
    ++part;
  }
  return part;
}

std::vector<Piece> reference_cut(const RandomBlock& block, const Domains& domains) {
  std::vector<Piece> pieces;
  for (std::int64_t n = 0; n < static_cast<std::int64_t>(block.indices.size()); ++n) {
    const int part = part_of(domains, block.indices[static_cast<std::size_t>(n)]);
    if (pieces.empty() || pieces.back().part != part) {
      pieces.push_back({.part = part, .first = n, .count = 0});
    }
    ++pieces.back().count;
  }
  return pieces;
}

TEST(Domains, CoverTheVariableInWholeGranulesAsEquallyAsTheseAllow) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 2000; ++i) {
    const Domains domains{.elements = draw(generator, 0, 500),
                          .parts = static_cast<int>(draw(generator, 1, 12)),
                          .granule_elements = draw(generator, 1, 70)};
    SCOPED_TRACE(std::to_string(domains.elements) + " elements, " + std::to_string(domains.parts) +
                 " parts of granules of " + std::to_string(domains.granule_elements));
    ASSERT_EQ(domains.begin(0), 0);
    ASSERT_EQ(domains.begin(domains.parts), domains.elements);
    const std::int64_t granules = domains.elements / domains.granule_elements;
    const std::int64_t least = granules / domains.parts * domains.granule_elements;
    for (int part = 0; part < domains.parts; ++part) {
      const std::int64_t begin = domains.begin(part);
      const std::int64_t end = domains.begin(part + 1);
      ASSERT_LE(begin, end);
      ASSERT_TRUE(end == domains.elements || end % domains.granule_elements == 0);
      ASSERT_LE(end - begin, least + domains.granule_elements);
      ASSERT_TRUE(end == domains.elements || end - begin >= least);
    }
  }
}

TEST(Domains, OfTheLargestVariableDoNotOverflow) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Domains domains{.elements = most, .parts = 100'000, .granule_elements = 512};
  EXPECT_EQ(domains.begin(0), 0);
  EXPECT_EQ(domains.begin(100'000), most);
  EXPECT_EQ(domains.begin(99'999) % 512, 0);
  EXPECT_LT(most - domains.begin(99'999), most / 100'000 + 512);
}

TEST(Domains, AreEmptyWhereThereAreFewerGranulesThanParts) {
  const Domains domains{.elements = 10, .parts = 4, .granule_elements = 8};
  EXPECT_EQ(domains.begin(1), 8);
  EXPECT_EQ(domains.begin(2), 10);
  EXPECT_EQ(domains.begin(3), 10);
}

TEST(Cut, AgreesWithAskingEveryElementForItsDomain) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 3000; ++i) {
    const RandomBlock block = random_block(generator);
    const Domains domains{.elements = elements(block.shape),
                          .parts = static_cast<int>(draw(generator, 1, 9)),
                          .granule_elements = draw(generator, 1, draw(generator, 1, 40))};
    ASSERT_EQ(cut(block.shape, block.box, domains), reference_cut(block, domains))
        << text(block.box) << " in " << text(block.shape) << ", " << domains.parts
        << " parts of granules of " << domains.granule_elements;
  }
}

TEST(Cut, LeavesNothingOfAnEmptyBlock) {
  const std::int64_t zero = 0;
  const Shape shape = make_shape(1, &zero);
  EXPECT_TRUE(cut(shape, make_box(shape, &zero, &zero), {.elements = 0, .parts = 3}).empty());
}

TEST(Cut, GivesAScalarToTheFirstPart) {
  const std::vector<Piece> expected{{.part = 0, .first = 0, .count = 1}};
  EXPECT_EQ(cut(Shape{}, Box{}, {.elements = 1, .parts = 3, .granule_elements = 512}), expected);
}

TEST(Cut, PlacesEveryPieceInItsDomainBeyond40Bits) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 200; ++i) {
    const std::vector<std::int64_t> extents{draw(generator, 1 << 10, 1 << 21),
                                            draw(generator, 1 << 10, 1 << 20),
                                            draw(generator, 1 << 10, 1 << 20)};
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
    for (const std::int64_t extent : extents) {
      start.push_back(draw(generator, 0, extent - 1));
      count.push_back(draw(generator, 1, extent - start.back()));
    }
    const Shape shape = make_shape(3, extents.data());
    const Box box = make_box(shape, start.data(), count.data());
    const Domains domains{.elements = elements(shape),
                          .parts = static_cast<int>(draw(generator, 1, 1000)),
                          .granule_elements = draw(generator, 1, 1 << 20)};
    std::int64_t packed = 0;
    int last_part = -1;
    for (const Piece& piece : cut(shape, box, domains)) {
      ASSERT_EQ(piece.first, packed);
      ASSERT_GT(piece.count, 0);
      ASSERT_GT(piece.part, last_part);
      ASSERT_EQ(elements_below(shape, box, domains.begin(piece.part)), piece.first);
      ASSERT_EQ(elements_below(shape, box, domains.begin(piece.part + 1)),
                piece.first + piece.count);
      packed += piece.count;
      last_part = piece.part;
    }
    ASSERT_EQ(packed, elements(box)) << text(box) << " in " << text(shape);
  }
}

}  // namespace
}  // namespace iocomp::array
