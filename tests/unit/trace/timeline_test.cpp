// SPDX-License-Identifier: BSD-3-Clause
#include "trace/timeline.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "../temporary_folder.h"
#include "base/error.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"
#include "trace/timeline_file.h"

namespace iocomp::trace {
namespace {

Process process_of_rank(int rank) {
  return {.job = "here-1", .started = 1, .host = "here", .rank = rank, .role = "compute"};
}

std::vector<Event> events_from(std::size_t first, std::size_t count) {
  std::vector<Event> events(count);
  for (std::size_t i = 0; i < count; ++i) {
    events[i].begin = static_cast<double>(first + i);
    events[i].end = events[i].begin + 0.5;
  }
  return events;
}

std::vector<double> begins(const ReadTimeline& timeline) {
  std::vector<double> all;
  for (const Event& event : timeline.events) {
    all.push_back(event.begin);
  }
  return all;
}

void damage(const std::string& path, std::streamoff at) {
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(at);
  file.put('\x55');
}

TEST(Event, CutsTextsBetweenLettersOfUtf8) {
  Event event;
  describe(event, {.file = "aaaaaaaaaaaaaaaaaaaaaa\xc3\xa4z", .text = "short"});
  EXPECT_EQ(event.file_name(), "aaaaaaaaaaaaaaaaaaaaaa");
  EXPECT_EQ(event.words(), "short");
}

TEST(Event, KeepsWhatIsKnownWhenMoreIsTold) {
  Event event;
  describe(event, {.file = "out", .step = 3});
  describe(event, {.bytes = 7, .ticket = 2});
  EXPECT_EQ(event.file_name(), "out");
  EXPECT_EQ(event.step, 3);
  EXPECT_EQ(event.bytes, 7);
  EXPECT_EQ(event.ticket, 2U);
}

TEST(TimelineFile, KeepsTheNewestEvents) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.events";
  TimelineFile file{path, 10, process_of_rank(0)};
  file.append(events_from(0, 7));
  file.append(events_from(7, 7));
  file.write_state({.has_ended = true});
  const auto read = read_timeline(path);
  EXPECT_EQ(begins(read), (std::vector<double>{4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(read.overwritten, 4U);
  EXPECT_TRUE(read.faults.empty());
}

TEST(TimelineFile, KeepsTheNewestOfMoreThanItHoldsAtOnce) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.events";
  TimelineFile file{path, 3, process_of_rank(0)};
  file.append(events_from(0, 11));
  file.write_state({.has_ended = true});
  EXPECT_EQ(begins(read_timeline(path)), (std::vector<double>{8, 9, 10}));
}

TEST(TimelineFile, TellsWhatWasOpenWhenItsProcessDied) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-4.events";
  TimelineFile file{path, 8, process_of_rank(4)};
  Event open;
  open.what = What::wait;
  open.begin = 5;
  open.end = 4;
  describe(open, {.text = "server 0"});
  file.write_state({.open = {open}, .lost = 3, .now = 9});
  const auto read = read_timeline(path);
  ASSERT_EQ(read.state.open.size(), 1U);
  EXPECT_EQ(read.state.open[0].words(), "server 0");
  EXPECT_EQ(read.state.lost, 3U);
  EXPECT_DOUBLE_EQ(read.state.now, 9);
  EXPECT_EQ(read.process.rank, 4);
  ASSERT_EQ(read.faults.size(), 1U);
  EXPECT_NE(read.faults[0].find("did not end its session; 1 events were open"), std::string::npos);
}

TEST(TimelineFile, IsReadAsFarAsItIsSound) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.events";
  TimelineFile file{path, 8, process_of_rank(0)};
  file.append(events_from(0, 5));
  file.write_state({.has_ended = true});
  const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(path));
  damage(path, bytes - 4 * static_cast<std::streamoff>(sizeof(Event)) + 20);  // in the second event
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(bytes - 30));  // in the last
  const auto read = read_timeline(path);
  EXPECT_EQ(begins(read), (std::vector<double>{0, 2, 3}));
  ASSERT_EQ(read.faults.size(), 1U);
  EXPECT_NE(read.faults[0].find("2 damaged or missing events"), std::string::npos);
}

TEST(TimelineFile, TellsThatItsEndIsMissing) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.events";
  TimelineFile file{path, 8, process_of_rank(0)};
  file.append(events_from(0, 5));
  file.write_state({.has_ended = true});
  const auto bytes = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, bytes - 3 * sizeof(Event));
  auto read = read_timeline(path);
  EXPECT_EQ(begins(read), (std::vector<double>{0, 1}));
  ASSERT_EQ(read.faults.size(), 1U);
  EXPECT_NE(read.faults[0].find("3 damaged or missing events"), std::string::npos);
  std::filesystem::resize_file(path, bytes - 5 * sizeof(Event) - 10);  // within the header
  read = read_timeline(path);
  ASSERT_EQ(read.faults.size(), 1U);
  EXPECT_NE(read.faults[0].find("5 damaged or missing events"), std::string::npos);
}

TEST(TimelineFile, IsRefusedWhereItsBeginIsTorn) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.events";
  for (const std::string text :
       {"", "{\"kind\": \"iocomp timeline\", \"ver", "[1, 2]", "{\"kind\": 5}",
        "{\"kind\": \"iocomp timeline\", \"version\": 1, "
        "\"event_bytes\": 192}"}) {
    write_text(path, text);
    EXPECT_FALSE(outcome_of([&] { (void)read_timeline(path); }).ok()) << text;
  }
  EXPECT_FALSE(outcome_of([&] { (void)read_timeline(folder / "absent"); }).ok());
}

TEST(Timeline, HasSpansInOneAnotherAndWhatIsToldOfThem) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.events";
  Timeline timeline{TimelineFile{path, 100, process_of_rank(0)}};
  Counters counters;
  counters.record_into(&timeline);
  {
    const Timer call{counters, Counter::call_seconds, What::call, {.text = "put"}};
    describe_span(&timeline, {.file = "out", .step = 2, .bytes = 80, .ticket = 1});
    const Span wait{&timeline, What::wait, {.text = "a server"}};
  }
  timeline.finish();
  const auto read = read_timeline(path);
  ASSERT_EQ(read.events.size(), 2U);
  const Event& wait = read.events[0];
  const Event& call = read.events[1];
  EXPECT_EQ(wait.words(), "a server");
  EXPECT_EQ(call.words(), "put");
  EXPECT_EQ(call.file_name(), "out");
  EXPECT_EQ(call.ticket, 1U);
  EXPECT_LE(call.begin, wait.begin);
  EXPECT_LE(wait.end, call.end);
  EXPECT_GE(counters[Counter::call_seconds], wait.end - wait.begin);
  EXPECT_TRUE(read.faults.empty());
}

TEST(Timeline, IsOnDiskBeforeItsProcessEnds) {
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.events";
  Timeline timeline{TimelineFile{path, 1 << 16, process_of_rank(0)}};
  const Span open{&timeline, What::wait, {.text = "what never comes"}};
  for (std::size_t i = 0; i < Timeline::most_pending / 2; ++i) {  // as many as wake its thread
    timeline.record(What::write, 1, 2, {});
  }
  ReadTimeline read;
  for (int look = 0; look < 1000 && read.state.open.empty(); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    read = read_timeline(path);
  }
  ASSERT_EQ(read.state.open.size(), 1U);
  EXPECT_EQ(read.state.open[0].words(), "what never comes");
  EXPECT_EQ(read.events.size(), Timeline::most_pending / 2);
}

TEST(Timeline, LosesNothingOfSeveralThreadsAndCountsWhatFindsNoRoom) {
  constexpr std::size_t each = 20000;
  const TemporaryFolder folder;
  const std::string path = folder / "rank-0.events";
  Timeline timeline{TimelineFile{path, 1 << 20, process_of_rank(0)}};
  {
    std::array<std::jthread, 2> threads;
    for (auto& thread : threads) {
      thread = std::jthread{[&timeline] {
        for (std::size_t i = 0; i < each; ++i) {
          const Span span{&timeline, What::wait, {}};
        }
      }};
    }
  }
  timeline.finish();
  const auto read = read_timeline(path);
  EXPECT_EQ(read.events.size() + read.state.lost, 2 * each);
  EXPECT_TRUE(read.faults.empty());
}

TEST(Timeline, WhereThereIsNoneNothingHappens) {
  Counters counters;
  const Timer timer{counters, Counter::call_seconds, What::call, {.text = "put"}};
  describe_span(counters.timeline(), {.step = 1});
  record(counters.timeline(), What::write, 0, {});
  EXPECT_EQ(counters.timeline(), nullptr);
}

}  // namespace
}  // namespace iocomp::trace
