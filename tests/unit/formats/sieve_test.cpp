// SPDX-License-Identifier: BSD-3-Clause
#include "formats/sieve.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace iocomp::formats {
namespace {

constexpr SieveLimits limits{.span_bytes = 1000, .direct_bytes = 300, .gap_bytes = 100};

Wanted at(std::int64_t offset, std::size_t bytes) { return {offset, bytes, nullptr}; }

TEST(Sieve, TakesAnythingFirst) { EXPECT_TRUE(Sieve{limits}.takes(at(123456, 5000))); }

TEST(Sieve, TakesNeighboursOverGapsThatAreCheaperThanARequest) {
  Sieve sieve{limits};
  sieve.add(at(0, 50));
  EXPECT_TRUE(sieve.takes(at(150, 50)));
  EXPECT_FALSE(sieve.takes(at(151, 50)));
}

TEST(Sieve, ReadsNoMoreAtOnceThanASpan) {
  Sieve sieve{limits};
  for (std::int64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(sieve.takes(at(100 * i, 100))) << i;
    sieve.add(at(100 * i, 100));
  }
  EXPECT_EQ(sieve.span_bytes(), 1000U);
  EXPECT_FALSE(sieve.takes(at(1000, 1)));
}

TEST(Sieve, LeavesWhatIsLongToItself) {
  Sieve sieve{limits};
  sieve.add(at(0, 50));
  EXPECT_FALSE(sieve.takes(at(50, 300)));
  sieve.clear();
  sieve.add(at(50, 300));
  EXPECT_FALSE(sieve.takes(at(350, 50)));
}

}  // namespace
}  // namespace iocomp::formats
