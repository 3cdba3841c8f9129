// SPDX-License-Identifier: BSD-3-Clause
#include "trace/summary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "trace/counters.h"

namespace iocomp::trace {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Two servers that were busy for 4 s each, and compute ranks of which the slowest lost 1 s.
Summary with_servers() {
  Summary summary;
  summary.compute_ranks = 6;
  summary.servers = 2;
  summary.transport = "shared";
  summary.compute_sum.set(Counter::put_bytes, 3.0 * (1 << 30));
  summary.compute_max.set(Counter::steps, 40);
  summary.compute_max.set(Counter::call_seconds, 1);
  summary.server_sum.set(Counter::write_seconds, 5);
  summary.server_sum.set(Counter::sync_seconds, 2);
  summary.server_sum.set(Counter::commit_seconds, 1);
  summary.server_sum.set(Counter::staging_peak_bytes, 512.0 * (1 << 20));
  summary.server_sum.set(Counter::staging_limit_bytes, 1 << 30);
  return summary;
}

TEST(Summary, HidesWhatTheSlowestRankDidNotWaitFor) {
  EXPECT_DOUBLE_EQ(with_servers().io_seconds(), 4);
  EXPECT_DOUBLE_EQ(with_servers().hidden(), 0.75);
}

TEST(Summary, HidesNothingWhenCallsTakeLongerThanTheWriting) {
  Summary summary = with_servers();
  summary.compute_max.set(Counter::call_seconds, 9);
  EXPECT_EQ(summary.hidden(), 0);
}

TEST(Summary, HidesNothingWithoutServersOrWithoutWriting) {
  Summary summary = with_servers();
  summary.servers = 0;
  EXPECT_EQ(summary.hidden(), 0);
  EXPECT_EQ(Summary{}.hidden(), 0);
}

TEST(SummaryLine, SaysWhatCompressionGained) {
  Summary summary = with_servers();
  EXPECT_FALSE(has(line(summary), "compressed")) << line(summary);
  summary.server_sum.set(Counter::raw_bytes, 6.0 * (1 << 30));
  summary.server_sum.set(Counter::compressed_bytes, 1.0 * (1 << 30));
  summary.compute_sum.set(Counter::raw_bytes, 2.0 * (1 << 30));
  summary.compute_sum.set(Counter::compressed_bytes, 1.0 * (1 << 30));
  summary.server_sum.set(Counter::compress_seconds, 12);
  const std::string text = line(summary);
  EXPECT_TRUE(has(text, "\niocomp: compressed 8 GiB to 2 GiB (4.0 : 1), 12.0 s of threads"))
      << text;
  summary.server_sum.set(Counter::writer_threads, 4);
  EXPECT_TRUE(has(line(summary), "(4.0 : 1), 12.0 s of 4 threads")) << line(summary);
}

TEST(SummaryLine, SaysHowMuchAndHowWellItWasHidden) {
  const std::string text = line(with_servers());
  EXPECT_TRUE(has(text, "3 GiB in 40 steps")) << text;
  EXPECT_TRUE(has(text, "hidden 75 %")) << text;
  EXPECT_TRUE(has(text, "staging peak 512 MiB of 1 GiB")) << text;
  EXPECT_FALSE(has(text, "failures")) << text;
}

TEST(SummaryLine, CountsEachFailureOnceInAllModes) {
  Summary summary = with_servers();
  summary.server_sum.set(Counter::failures, 2);
  summary.compute_sum.set(Counter::failures, 1);
  EXPECT_TRUE(has(line(summary), ", 2 failures")) << line(summary);
  summary.server_sum.set(Counter::failures, 0);  // they were lost
  EXPECT_TRUE(has(line(summary), ", 1 failure")) << line(summary);
  summary.servers = 0;
  EXPECT_TRUE(has(line(summary), ", 1 failure")) << line(summary);
}

TEST(SummaryLine, SaysThatTheModeWasSynchronous) {
  Summary summary = with_servers();
  summary.servers = 0;
  summary.transport = "direct";
  EXPECT_TRUE(has(line(summary), ", synchronous, 1.0 s in iocomp calls")) << line(summary);
}

TEST(SummaryLine, HasALineForReadingAndOneForEachNote) {
  Summary summary = with_servers();
  summary.compute_sum.set(Counter::reads, 1);
  summary.compute_sum.set(Counter::read_bytes, 1 << 20);
  summary.notes = {"first", "second"};
  const std::string text = line(summary);
  EXPECT_TRUE(has(text, "\niocomp: read 1 MiB in ")) << text;
  EXPECT_TRUE(has(text, "\niocomp: first\niocomp: second")) << text;
}

TEST(SummaryJson, HasEveryCounterByName) {
  Summary summary = with_servers();
  summary.choices = {"u goes by the kernel"};
  const auto parsed = nlohmann::json::parse(json(summary));
  EXPECT_EQ(parsed["iocomp_trace"], 1);
  EXPECT_EQ(parsed["job"]["process"], ::getpid());
  EXPECT_EQ(parsed["servers"], 2);
  EXPECT_EQ(parsed["transport"], "shared");
  EXPECT_EQ(parsed["hidden"], 0.75);
  EXPECT_EQ(parsed["choices"][0], "u goes by the kernel");
  EXPECT_EQ(parsed["server_sum"].size(), counter_count);
  EXPECT_EQ(parsed["server_sum"]["write_seconds"], 5);
  EXPECT_EQ(parsed["compute_max"]["steps"], 40);
}

}  // namespace
}  // namespace iocomp::trace
