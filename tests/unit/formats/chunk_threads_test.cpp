// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/chunk_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <latch>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace iocomp::formats::h5 {
namespace {

class Threads : public testing::TestWithParam<int> {
 protected:
  ChunkThreads threads{GetParam()};
};

TEST_P(Threads, RunEachJobOnce) {
  std::vector<int> runs(100, 0);
  std::vector<ChunkThreads::Job> jobs;
  for (int& run : runs) {
    jobs.emplace_back([&run] { ++run; });
  }
  EXPECT_TRUE(threads.run(jobs).ok());
  EXPECT_TRUE(threads.run({}).ok());
  EXPECT_EQ(runs, std::vector<int>(100, 1));
}

TEST_P(Threads, TellTheFirstFailureInTheOrderOfTheJobs) {
  std::atomic<int> ran = 0;
  std::vector<ChunkThreads::Job> jobs;
  for (int job = 0; job < 20; ++job) {
    jobs.emplace_back([&ran, job] {
      ++ran;
      if (job == 7) {
        throw Error{ErrorCode::storage_failure, "job 7"};
      }
      if (job == 13) {
        throw std::runtime_error{"job 13"};
      }
    });
  }
  const Outcome outcome = threads.run(jobs);
  EXPECT_EQ(outcome.code, ErrorCode::storage_failure);
  EXPECT_EQ(outcome.story, "job 7");
  EXPECT_EQ(ran, 20);
}

TEST_P(Threads, TellWhatBecameOfAJobBesideOthers) {
  EXPECT_TRUE(threads.finish().ok());
  threads.begin([] { throw Error{ErrorCode::storage_failure, "disk full"}; });
  int runs = 0;
  EXPECT_TRUE(threads.run({[&runs] { ++runs; }}).ok());
  EXPECT_EQ(threads.finish().story, "disk full");
  EXPECT_TRUE(threads.finish().ok());
  EXPECT_EQ(runs, 1);
}

INSTANTIATE_TEST_SUITE_P(Chunk, Threads, testing::Values(1, 2, 5));

TEST(ChunkThreads, WorkAtTheSameTimeAndNotInTheCaller) {
  constexpr std::size_t count = 3;
  ChunkThreads threads{count};
  std::latch all_here{count};  // met only if all of them are inside at once
  std::vector<std::thread::id> ids(count);
  std::vector<ChunkThreads::Job> jobs;
  for (auto& id : ids) {
    jobs.emplace_back([&all_here, &id] {
      id = std::this_thread::get_id();
      all_here.arrive_and_wait();
    });
  }
  EXPECT_TRUE(threads.run(jobs).ok());
  const std::set<std::thread::id> different{ids.begin(), ids.end()};
  EXPECT_EQ(different.size(), count);
  EXPECT_FALSE(different.contains(std::this_thread::get_id()));
}

TEST(ChunkThreads, FinishWhatWasBegunBeforeTheyGo) {
  std::atomic<bool> has_run = false;
  {
    ChunkThreads threads{2};
    threads.begin([&has_run] { has_run = true; });
  }
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace iocomp::formats::h5
