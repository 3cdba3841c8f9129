// SPDX-License-Identifier: BSD-3-Clause
#include "trace/merged.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../temporary_folder.h"
#include "base/error.h"
#include "trace/event.h"
#include "trace/perfetto.h"
#include "trace/timeline_file.h"

namespace iocomp::trace {
namespace {

Event event(What what, double begin, double end, const Subject& subject = {}) {
  Event made;
  made.what = what;
  made.begin = begin;
  made.end = end;
  describe(made, subject);
  return made;
}

ReadTimeline timeline_of(int rank, std::vector<Event> events, double offset = 0,
                         double started = 1) {
  ReadTimeline timeline;
  timeline.process = {.started = started, .rank = rank, .role = "compute", .number = rank};
  timeline.process.clock_offset = offset;
  timeline.state.has_ended = true;
  timeline.events = std::move(events);
  return timeline;
}

TEST(Merge, BringsAllClocksOntoOneAxisThatBeginsWithTheFirstEvent) {
  const Merged merged = merge({timeline_of(1, {event(What::pull, 1002, 1003)}, -1000 + 50),
                               timeline_of(0, {event(What::call, 50, 51)})});
  ASSERT_EQ(merged.processes.size(), 2U);
  EXPECT_EQ(merged.processes[0].process.rank, 0);
  EXPECT_DOUBLE_EQ(merged.processes[0].events[0].begin, 0);
  EXPECT_DOUBLE_EQ(merged.processes[1].events[0].begin, 2);
  EXPECT_DOUBLE_EQ(merged.seconds, 3);
}

TEST(Merge, LaysInOneLaneWhatLiesInOneAnotherAndInSeveralWhatOverlaps) {
  const Merged merged = merge({timeline_of(
      0, {event(What::wait, 2, 3), event(What::call, 1, 4), event(What::write, 1, 5),
          event(What::write, 2, 3), event(What::write, 4, 6), event(What::sync, 5, 7)})});
  std::vector<std::size_t> calls;
  std::vector<std::size_t> disk;
  for (const PlacedEvent& placed : merged.processes[0].events) {
    (row_of(placed.event.what) == Row::calls ? calls : disk).push_back(placed.lane);
  }
  EXPECT_EQ(calls, (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(disk, (std::vector<std::size_t>{0, 1, 1, 0}));
}

TEST(Merge, EndsWhatNeverEndedWhenItsProcessWasLastHeardOf) {
  ReadTimeline killed = timeline_of(0, {event(What::call, 1, 2)});
  killed.state.has_ended = false;
  killed.state.now = 9;
  killed.state.open = {event(What::wait, 4, 3, {.text = "server 0"})};
  killed.faults = {"rank-0.events: the process did not end its session"};
  const Merged merged = merge({killed});
  const PlacedEvent& open = merged.processes[0].events[1];
  EXPECT_TRUE(open.is_open);
  EXPECT_DOUBLE_EQ(open.end - open.begin, 5);
  EXPECT_EQ(merged.faults.size(), 1U);
}

TEST(Merge, LeavesOutProcessesOfEarlierSessionsAndSaysSo) {
  const Merged merged = merge({timeline_of(0, {event(What::call, 1, 2)}, 0, 20),
                               timeline_of(1, {event(What::call, 1, 2)}, 0, 10)});
  EXPECT_EQ(merged.processes.size(), 1U);
  ASSERT_EQ(merged.faults.size(), 1U);
  EXPECT_NE(merged.faults[0].find("rank 1: its timeline is of an earlier session"),
            std::string::npos);
}

TEST(MergeFiles, GoesOnAfterAFileThatCannotBeRead) {
  const TemporaryFolder folder;
  {
    TimelineFile sound{folder / "rank-0.events", 8, {.started = 1, .role = "compute"}};
    sound.append(std::vector<Event>{event(What::call, 1, 2)});
    sound.write_state({.has_ended = true});
  }
  write_text(folder / "rank-1.events", "torn");
  const Merged merged = merge_files(folder / "");
  EXPECT_EQ(merged.processes.size(), 1U);
  ASSERT_EQ(merged.faults.size(), 1U);
  EXPECT_NE(merged.faults[0].find("rank-1.events: this is not a timeline"), std::string::npos);
  EXPECT_EQ(merge_files(folder / "rank-0.events").processes.size(), 1U);
}

TEST(MergeFiles, RefusesAPlaceWithoutAnyTimeline) {
  const TemporaryFolder folder;
  EXPECT_EQ(outcome_of([&] { (void)merge_files(folder / ""); }).code, ErrorCode::not_found);
  EXPECT_EQ(outcome_of([&] { (void)merge_files(folder / "absent"); }).code, ErrorCode::not_found);
}

TEST(Perfetto, IsJsonOfCompleteEventsWhoseThreadsHaveNames) {
  const Merged merged = merge({timeline_of(
      3,
      {event(What::call, 1, 2, {.file = "out", .step = 7, .bytes = 8, .ticket = 5, .text = "put"}),
       event(What::write, 1.5, 1.75, {.text = "\xff no UTF-8 \"quoted\""})})});
  std::ostringstream text;
  write_perfetto(merged, text);
  const auto json = nlohmann::json::parse(text.str());
  std::vector<nlohmann::json> complete;
  std::set<std::pair<int, int>> named;
  for (const auto& one : json.at("traceEvents")) {
    if (one.at("ph") == "X") {
      complete.push_back(one);
    } else if (one.at("name") == "thread_name") {
      named.emplace(one.at("pid"), one.at("tid"));
    }
  }
  ASSERT_EQ(complete.size(), 2U);
  EXPECT_EQ(complete[0].at("name"), "put");
  EXPECT_EQ(complete[0].at("pid"), 3);
  EXPECT_EQ(complete[0].at("args").at("ticket"), 5);
  EXPECT_EQ(complete[0].at("args").at("rank"), 3);
  EXPECT_DOUBLE_EQ(complete[1].at("ts"), 5e5);
  EXPECT_DOUBLE_EQ(complete[1].at("dur"), 2.5e5);
  for (const auto& one : complete) {
    EXPECT_TRUE(named.contains({one.at("pid"), one.at("tid")}));
  }
}

}  // namespace
}  // namespace iocomp::trace
