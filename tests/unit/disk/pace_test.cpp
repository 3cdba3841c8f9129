// SPDX-License-Identifier: BSD-3-Clause
#include "disk/pace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "folder.h"

namespace iocomp::disk {
namespace {

constexpr std::int64_t one_mebibyte = std::int64_t{1} << 20;
constexpr double rate = 16.0 * (1 << 20);

TEST(Pace, LetsNoMoreThroughThanTheRateInAnyTime) {
  double now = 100;
  Pace pace{rate, [&now] { return now; }};
  const std::int64_t slice = pace.slice_bytes();
  EXPECT_EQ(slice, one_mebibyte);
  std::int64_t written = 0;
  const double begin = now;
  for (; now < begin + 5; now += 0.001) {
    while (pace.is_ready()) {
      pace.wrote(slice);
      written += slice;
    }
    const double allowed = rate * (now - begin + Pace::slack_seconds) + static_cast<double>(slice);
    ASSERT_LE(static_cast<double>(written), allowed) << now - begin;
  }
  EXPECT_GE(static_cast<double>(written), 0.98 * 5 * rate);
}

TEST(Pace, WhoWasAwayForLongMayNotMakeUpForIt) {
  double now = 100;
  Pace pace{rate, [&now] { return now; }};
  pace.wrote(one_mebibyte);
  now += 60;
  int slices = 0;
  for (; pace.is_ready(); ++slices) {
    pace.wrote(one_mebibyte);
  }
  EXPECT_LE(slices, 1 + static_cast<int>(Pace::slack_seconds * rate / one_mebibyte) + 1);
}

TEST(Pace, SlicesAreWholePages) {
  EXPECT_EQ(Pace{1}.slice_bytes(), 4096);
  EXPECT_EQ(Pace{1e6}.slice_bytes() % 4096, 0);
}

/// A plan of one file takes as long as its pace says; that of another does not wait for it.
TEST(Pace, SlowsOneFileAndNoOther) {
  const Folder folder;
  constexpr std::size_t size = std::size_t{8} << 20;
  const PageAligned data{size};
  const auto engine = start_engine({});
  Options paced;
  paced.pace = std::make_shared<Pace>(rate);
  const auto submit = [&](std::uint64_t id, const char* name, const Options& options) {
    Plan plan;
    plan.id = id;
    plan.file = std::make_shared<OutputFile>(opened(folder.file(name)), folder.file(name), options);
    plan.writes = {{.offset = 0, .bytes = data.bytes()}};
    engine->submit(std::move(plan));
  };
  const double begin = now_seconds();
  submit(1, "paced", paced);
  submit(2, "free", {});
  std::vector<std::uint64_t> order;
  while (order.size() < 2) {
    engine->wait(std::chrono::seconds{1});
    for (const auto& completion : engine->take_completed()) {
      EXPECT_EQ(completion.code, ErrorCode::ok) << completion.story;
      order.push_back(completion.id);
    }
  }
  const double seconds = now_seconds() - begin;
  EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 1}));
  // All but the last slice, and what may be made up for, are waited for.
  EXPECT_GE(seconds, static_cast<double>(size) / rate - 0.125);
  EXPECT_EQ(content_of(folder.file("paced")), content_of(folder.file("free")));
  EXPECT_EQ(engine->outstanding(), 0U);
}

}  // namespace
}  // namespace iocomp::disk
