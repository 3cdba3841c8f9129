// SPDX-License-Identifier: BSD-3-Clause
#include "trace/counters.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

namespace iocomp::trace {
namespace {

TEST(Counters, StartAtZeroAndAddUp) {
  Counters counters;
  EXPECT_EQ(counters[Counter::puts], 0);
  counters.add(Counter::puts, 2);
  counters.add(Counter::puts, 3);
  EXPECT_EQ(counters[Counter::puts], 5);
  counters.set(Counter::puts, 1);
  EXPECT_EQ(counters[Counter::puts], 1);
}

TEST(Counters, OfTwoProcessesAreMerged) {
  Counters one;
  one.add(Counter::put_bytes, 1);
  one.add(Counter::failures, 4);
  Counters other;
  other.add(Counter::put_bytes, 2);
  one.merge(other.values());
  EXPECT_EQ(one[Counter::put_bytes], 3);
  EXPECT_EQ(one[Counter::failures], 4);
}

TEST(Counters, IgnoreValuesThatHaveNoCounter) {
  Counters counters;
  counters.merge(std::vector<double>(counter_count + 5, 1.0));
  EXPECT_EQ(counters[Counter::failures], 1);
  counters.merge({});
  EXPECT_EQ(counters.values().size(), counter_count);
}

TEST(Counters, HaveANameEach) {
  std::set<std::string_view> names;
  for (std::size_t number = 0; number < counter_count; ++number) {
    names.insert(name(static_cast<Counter>(number)));
  }
  EXPECT_EQ(names.size(), counter_count);
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(name(Counter::put_bytes), "put_bytes");
  EXPECT_EQ(name(Counter::failures), "failures");
}

TEST(Timer, AddsTheTimeOfItsScope) {
  Counters counters;
  {
    const Timer timer{counters, Counter::put_seconds};
  }
  const double once = counters[Counter::put_seconds];
  EXPECT_GE(once, 0);
  EXPECT_LT(once, 60);
  {
    const Timer timer{counters, Counter::put_seconds};
  }
  EXPECT_GE(counters[Counter::put_seconds], once);
}

}  // namespace
}  // namespace iocomp::trace
