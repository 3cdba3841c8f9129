// SPDX-License-Identifier: BSD-3-Clause
#include "trace/busy.h"

#include <gtest/gtest.h>

#include "trace/counters.h"

namespace iocomp::trace {
namespace {

TEST(Busy, CountsTimeInWhichSomethingIsUnderWayAndNoOther) {
  Counters counters;
  Busy busy{counters};
  busy.begin(Activity::sync, 10);
  busy.end(Activity::sync, 12);
  busy.begin(Activity::sync, 20);
  busy.end(Activity::sync, 21);
  EXPECT_DOUBLE_EQ(counters[Counter::sync_seconds], 3);
  EXPECT_DOUBLE_EQ(counters[Counter::write_seconds], 0);
}

TEST(Busy, CountsEachMomentOnceForTheFirstActivity) {
  Counters counters;
  Busy busy{counters};
  busy.begin(Activity::commit, 0);
  busy.begin(Activity::write, 1);
  busy.begin(Activity::write, 2);
  busy.end(Activity::write, 4);
  busy.end(Activity::write, 5);
  busy.end(Activity::commit, 7);
  EXPECT_DOUBLE_EQ(counters[Counter::write_seconds], 4);
  EXPECT_DOUBLE_EQ(counters[Counter::commit_seconds], 3);
}

}  // namespace
}  // namespace iocomp::trace
