// SPDX-License-Identifier: BSD-3-Clause
#include "base/crew.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <latch>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp {
namespace {

using Range = std::pair<std::size_t, std::size_t>;

Crew::Terms terms(int threads, std::size_t least_bytes) {
  Crew::Terms terms;
  terms.threads = threads;
  terms.least_bytes = least_bytes;
  return terms;
}

// The shares of a request, ascending.
std::vector<Range> shares_of(Crew* crew, std::size_t bytes, std::size_t unit) {
  const std::vector<std::byte> memory(bytes);
  std::mutex mutex;
  std::vector<Range> shares;
  share(crew, memory, unit, [&](std::size_t begin, std::size_t end) {
    const std::scoped_lock lock{mutex};
    shares.emplace_back(begin, end);
  });
  std::ranges::sort(shares);
  return shares;
}

TEST(Crew, OfNobodyLeavesARequestWhole) {
  EXPECT_EQ(shares_of(nullptr, 1 << 20, 8), (std::vector<Range>{{0, 1 << 20}}));
  Crew alone{terms(1, 1)};
  EXPECT_EQ(shares_of(&alone, 1 << 20, 8), (std::vector<Range>{{0, 1 << 20}}));
  EXPECT_EQ(alone.divided_bytes(), 0);
}

TEST(Crew, LeavesASmallRequestToItsCaller) {
  Crew crew{terms(4, 10000)};
  const auto caller = std::this_thread::get_id();
  share(&crew, std::vector<std::byte>(19999), 1, [&](std::size_t begin, std::size_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(end - begin, 19999U);
  });
}

TEST(Crew, DividesEveryByteOnceAtMultiplesOfTheUnit) {
  for (const std::size_t unit : {1UL, 8UL, 24UL, 5000UL}) {
    for (const int threads : {2, 3, 7}) {
      Crew crew{terms(threads, 4096)};
      const std::size_t bytes = 37 * unit * 4096;
      const auto shares = shares_of(&crew, bytes, unit);
      EXPECT_EQ(shares.size(), static_cast<std::size_t>(threads));
      std::size_t next = 0;
      for (const auto& [begin, end] : shares) {
        EXPECT_EQ(begin, next);
        EXPECT_EQ(begin % unit, 0U);
        next = end;
      }
      EXPECT_EQ(next, bytes);
      EXPECT_EQ(crew.divided_bytes(), static_cast<std::int64_t>(bytes));
    }
  }
}

TEST(Crew, GivesNobodyLessThanTheLeast) {
  Crew crew{terms(8, 100000)};
  for (const auto& [begin, end] : shares_of(&crew, 350000, 8)) {
    EXPECT_GE(end - begin, 100000U - 4096U);
  }
}

TEST(Crew, WorksAtTheSameTimeWithItsCaller) {
  constexpr int count = 3;
  Crew crew{terms(count, 1)};
  std::latch all_here{count};  // met only if all of them are inside at once
  std::mutex mutex;
  std::set<std::thread::id> threads;
  share(&crew, std::vector<std::byte>(std::size_t{count} * 8192), 8192,
        [&](std::size_t /*begin*/, std::size_t /*end*/) {
          all_here.arrive_and_wait();
          const std::scoped_lock lock{mutex};
          threads.insert(std::this_thread::get_id());
        });
  EXPECT_EQ(threads.size(), static_cast<std::size_t>(count));
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
}

TEST(Crew, TellsTheFirstFailureInTheOrderOfTheShares) {
  Crew crew{terms(4, 1)};
  std::atomic<int> ran = 0;
  try {
    share(&crew, std::vector<std::byte>(std::size_t{4} * 4096), 4096,
          [&](std::size_t begin, std::size_t /*end*/) {
            ++ran;
            if (begin == 4096) {
              throw Error{ErrorCode::storage_failure, "the second"};
            }
            if (begin > 4096) {
              throw std::runtime_error{"a later one"};
            }
          });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::storage_failure);
    EXPECT_STREQ(error.what(), "the second");
  }
  EXPECT_EQ(ran, 4);
}

TEST(Crew, GivesSharesToTheThreadsThatTheDivisionNames) {
  Crew::Terms placed = terms(3, 1);
  std::mutex mutex;
  std::vector<std::thread::id> ids(3);
  placed.enter = [&](int thread) {
    const std::scoped_lock lock{mutex};
    ids[static_cast<std::size_t>(thread)] = std::this_thread::get_id();
  };
  placed.divide = [](std::span<const std::byte> memory, std::size_t grain, std::size_t /*least*/) {
    EXPECT_EQ(grain, 4096U);
    EXPECT_EQ(memory.size(), 40960U);
    return std::vector<Crew::Share>{{.begin = 0, .bytes = 8192, .thread = 2},
                                    {.begin = 8192, .bytes = 8192, .thread = 1},
                                    {.begin = 16384, .bytes = 8192, .thread = 0},
                                    {.begin = 24576, .bytes = 16384, .thread = 2}};
  };
  Crew crew{placed};
  ids[0] = std::this_thread::get_id();
  std::vector<std::thread::id> by_share(4);
  share(&crew, std::vector<std::byte>(40960), 8, [&](std::size_t begin, std::size_t /*end*/) {
    by_share[begin / 8192] = std::this_thread::get_id();
  });
  EXPECT_EQ(by_share, (std::vector{ids[2], ids[1], ids[0], ids[2]}));
}

TEST(Crew, ServesSeveralCallersAtOnce) {
  Crew crew{terms(3, 64)};
  std::atomic<std::size_t> sum = 0;
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        const std::vector<std::byte> memory(std::size_t{64} << 10);
        for (int request = 0; request < 50; ++request) {
          share(&crew, memory, 8, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
        }
      });
    }
  }
  EXPECT_EQ(sum, std::size_t{4} * 50 * (std::size_t{64} << 10));
}

TEST(Crew, DoesWhatNobodyHasBegun) {
  Crew alone{{}};
  int runs = 0;
  const auto batch = alone.begin({[&] { ++runs; }, [&] { ++runs; }});
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(Crew::finish(*batch).ok());
  EXPECT_EQ(runs, 2);
}

class CrewOf : public testing::TestWithParam<int> {};

TEST_P(CrewOf, DoesEachJobOnce) {
  Crew crew{terms(GetParam(), 1)};
  std::vector<int> runs(100, 0);
  std::vector<Crew::Job> jobs;
  for (int& run : runs) {
    jobs.emplace_back([&run] { ++run; });
  }
  const auto batch = crew.begin(std::move(jobs));
  EXPECT_TRUE(Crew::finish(*batch).ok());
  EXPECT_TRUE(Crew::finish(*crew.begin({})).ok());
  EXPECT_EQ(runs, std::vector<int>(100, 1));
}

TEST_P(CrewOf, TellsTheFirstFailureInTheOrderOfTheJobs) {
  Crew crew{terms(GetParam(), 1)};
  std::atomic<int> ran = 0;
  std::vector<Crew::Job> jobs;
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
  const auto batch = crew.begin(std::move(jobs));
  const Outcome outcome = Crew::finish(*batch);
  EXPECT_EQ(outcome.code, ErrorCode::storage_failure);
  EXPECT_EQ(outcome.story, "job 7");
  EXPECT_EQ(ran, 20);
}

INSTANTIATE_TEST_SUITE_P(Threads, CrewOf, testing::Values(1, 2, 5));

TEST(Crew, GoesOnWithTheNextJobsWhileOthersEndTheirs) {
  Crew crew{terms(2, 1)};
  const auto caller = std::this_thread::get_id();
  std::latch helper_is_inside{1};
  std::latch next_is_done{1};
  std::atomic<bool> by_caller = false;
  const auto batch = crew.begin({[&] {
    helper_is_inside.count_down();
    next_is_done.wait();  // ends only if somebody else does the next job
  }});
  helper_is_inside.wait();
  const auto next = crew.begin({[&] {
    by_caller = std::this_thread::get_id() == caller;
    next_is_done.count_down();
  }});
  EXPECT_TRUE(Crew::finish(*batch, next.get()).ok());
  EXPECT_TRUE(Crew::finish(*next).ok());
  EXPECT_TRUE(by_caller);
}

}  // namespace
}  // namespace iocomp
