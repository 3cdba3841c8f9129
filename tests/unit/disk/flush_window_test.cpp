// SPDX-License-Identifier: BSD-3-Clause
#include "disk/flush_window.h"

#include <gtest/gtest.h>

#include <optional>

namespace iocomp::disk {
namespace {

TEST(FlushWindow, WaitsUntilThereIsEnough) {
  FlushWindow window{100};
  EXPECT_EQ(window.add({.offset = 0, .bytes = 60}), std::nullopt);
  EXPECT_EQ(window.add({.offset = 60, .bytes = 40}), (FileRange{.offset = 0, .bytes = 100}));
}

TEST(FlushWindow, ReturnsALargeWriteAtOnce) {
  FlushWindow window{100};
  EXPECT_EQ(window.add({.offset = 7, .bytes = 100}), (FileRange{.offset = 7, .bytes = 100}));
}

TEST(FlushWindow, StartsAnewAfterEachFlush) {
  FlushWindow window{100};
  (void)window.add({.offset = 0, .bytes = 100});
  EXPECT_EQ(window.add({.offset = 500, .bytes = 1}), std::nullopt);
  EXPECT_EQ(window.add({.offset = 900, .bytes = 99}), (FileRange{.offset = 500, .bytes = 499}));
}

TEST(FlushWindow, HoldsWritesInAnyOrder) {
  FlushWindow window{30};
  (void)window.add({.offset = 50, .bytes = 10});
  (void)window.add({.offset = 10, .bytes = 10});
  EXPECT_EQ(window.add({.offset = 30, .bytes = 10}), (FileRange{.offset = 10, .bytes = 50}));
}

}  // namespace
}  // namespace iocomp::disk
