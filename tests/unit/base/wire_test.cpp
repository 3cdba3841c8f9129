// SPDX-License-Identifier: BSD-3-Clause
#include "base/wire.h"

#include <gtest/gtest.h>

namespace iocomp {
namespace {

TEST(WireWriter, MovesItsBytesSeldomWhenRoomIsMadeForEachPart) {
  WireWriter writer;
  int moves = 0;
  for (int part = 0; part < 1000; ++part) {
    const auto* const before = writer.bytes().data();
    writer.reserve(writer.bytes().size() + sizeof part);
    moves += writer.bytes().data() == before ? 0 : 1;
    writer.put(part);
  }
  EXPECT_LT(moves, 30);
}

}  // namespace
}  // namespace iocomp
