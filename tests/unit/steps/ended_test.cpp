// SPDX-License-Identifier: BSD-3-Clause
#include "steps/ended.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace iocomp::steps {
namespace {

Ended of(std::vector<std::pair<std::int32_t, std::int64_t>> pieces) {
  return {3, 2, 1, std::move(pieces), {}};
}

TEST(Ended, AddsPiecesOfTheSameWriter) {
  Ended sum = of({{4, 1}, {1, 2}});
  add(sum, of({{2, 5}, {4, 10}}));
  add(sum, of({}));
  const decltype(sum.pieces) expected{{1, 2}, {2, 5}, {4, 11}};
  EXPECT_EQ(sum.pieces, expected);
  EXPECT_EQ(sum.members, 3);
}

TEST(Ended, OfNobodyIsWhatTheOthersSay) {
  Ended sum = of({});
  add(sum, of({{7, 1}}));
  const decltype(sum.pieces) expected{{7, 1}};
  EXPECT_EQ(sum.pieces, expected);
}

}  // namespace
}  // namespace iocomp::steps
