// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange_runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "array/run_list.h"
#include "base/error.h"
#include "base/wire.h"

namespace iocomp::client {
namespace {

TEST(ExchangedRuns, AreHeardOnce) {
  auto runs = std::make_shared<array::RunList>();
  runs->append({.index = 3, .elements = 4});
  ExchangedRuns teller;
  const std::uint64_t number = teller.known_to(1, runs, 0, 4);
  ExchangedRuns hearer;
  hearer.hear(0, teller.take_news(1));
  EXPECT_EQ(hearer.list(0, number)->end(), 7);
  EXPECT_EQ(teller.known_to(1, runs, 0, 4), number);
  EXPECT_TRUE(teller.take_news(1).empty());
}

TEST(ExchangedRuns, NewsShorterThanAHeaderAreRefused) {
  WireWriter writer;
  writer.put_text("short");
  ExchangedRuns hearer;
  EXPECT_THROW(hearer.hear(0, writer.bytes()), Error);
}

}  // namespace
}  // namespace iocomp::client
