// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/chunk_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/crew.h"
#include "base/error.h"

namespace iocomp::formats::h5 {
namespace {

Crew::Terms terms(int threads) {
  Crew::Terms terms;
  terms.threads = threads;
  return terms;
}

class Threads : public testing::TestWithParam<int> {
 protected:
  Crew crew{terms(GetParam())};
  ChunkThreads threads{&crew};
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

TEST_P(Threads, TellWhatBecameOfJobsBesideOthers) {
  const auto batch =
      threads.begin({[] { throw Error{ErrorCode::storage_failure, "disk full"}; }, [] {}});
  int runs = 0;
  EXPECT_TRUE(threads.run({[&runs] { ++runs; }}).ok());
  EXPECT_EQ(Crew::finish(*batch).story, "disk full");
  EXPECT_EQ(runs, 1);
}

INSTANTIATE_TEST_SUITE_P(Chunk, Threads, testing::Values(1, 2, 5));

TEST(ChunkThreads, OfSeveralFilesAreTheSame) {
  Crew crew{terms(3)};
  std::mutex mutex;
  std::set<std::thread::id> ids;
  for (int file = 0; file < 4; ++file) {
    ChunkThreads threads{&crew};
    std::latch all_here{3};  // met only if all of them are inside at once
    EXPECT_TRUE(threads
                    .run(std::vector<ChunkThreads::Job>(3,
                                                        [&] {
                                                          all_here.arrive_and_wait();
                                                          const std::scoped_lock lock{mutex};
                                                          ids.insert(std::this_thread::get_id());
                                                        }))
                    .ok());
  }
  EXPECT_EQ(ids.size(), 3U);
}

TEST(ChunkThreads, AreTheCallerWhereThereAreNoOthers) {
  ChunkThreads threads{nullptr};
  std::thread::id id;
  EXPECT_TRUE(threads.run({[&id] { id = std::this_thread::get_id(); }}).ok());
  EXPECT_EQ(id, std::this_thread::get_id());
}

}  // namespace
}  // namespace iocomp::formats::h5
