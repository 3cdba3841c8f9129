#include "client/agreement.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/kernel_placing.h"
#include "client/meeting.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::client {
namespace {

class World {
 public:
  World() : comm_{mpi::duplicate(MPI_COMM_WORLD, {}, "the other ranks of the test")} {
    mpi::check(MPI_Comm_rank(comm_.raw(), &rank_));
    mpi::check(MPI_Comm_size(comm_.raw(), &ranks_));
    members_.resize(static_cast<std::size_t>(ranks_));
    std::iota(members_.begin(), members_.end(), 100);  // as if of a communicator of fewer ranks
  }
  [[nodiscard]] MPI_Comm comm() const { return comm_.raw(); }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<int>& members() const { return members_; }

  template <typename Operation>
  void finish(Operation& operation) const {
    mpi::Nap nap;
    while (!operation.advance()) {
      nap.pause();
    }
  }

 private:
  mpi::Communicator comm_;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<int> members_;
};

Agreement::Mine end_of_step(std::int64_t step) {
  Agreement::Mine mine;
  mine.call = {"end_step", 7, "fields", step, 1234, "define"};
  return mine;
}

TEST(Agreement, TakesMaximaWhereAllDoTheSame) {
  const World world;
  auto mine = end_of_step(3);
  mine.extra = 10 + world.rank();
  mine.flags.assign(static_cast<std::size_t>(world.ranks()) + 1, 0);
  mine.flags[static_cast<std::size_t>(world.rank())] = 1;
  Agreement agreement{world.comm(), world.members(), std::move(mine)};
  world.finish(agreement);
  EXPECT_TRUE(agreement.outcome().ok());
  EXPECT_EQ(agreement.extra(), 10 + world.ranks() - 1);
  std::vector<std::int64_t> expected(static_cast<std::size_t>(world.ranks()), 1);
  expected.push_back(0);
  EXPECT_EQ(agreement.flags(), expected);
}

TEST(Agreement, TellsTheFailureOfTheLowestRank) {
  const World world;
  const int lowest = world.ranks() / 2;
  auto mine = end_of_step(0);
  if (world.rank() >= lowest) {
    mine.outcome = {ErrorCode::storage_failure,
                    "no room on rank " + std::to_string(world.rank()) + std::string(2000, '.')};
  }
  Agreement agreement{world.comm(), world.members(), std::move(mine)};
  world.finish(agreement);
  EXPECT_EQ(agreement.outcome().code, ErrorCode::storage_failure);
  const std::string begin = "no room on rank " + std::to_string(lowest) + '.';
  EXPECT_TRUE(agreement.outcome().story.starts_with(begin)) << agreement.outcome().story;
}

TEST(Agreement, NamesTheRankThatMadeAnotherCall) {
  const World world;
  if (world.ranks() == 1) {
    GTEST_SKIP() << "one rank agrees with itself";
  }
  const int odd = world.ranks() - 1;
  auto mine = end_of_step(5);
  if (world.rank() == odd) {
    mine.call.name = "close";
    mine.flags = {1, 2, 3};  // whatever it thinks there is
  }
  Agreement agreement{world.comm(), world.members(), std::move(mine)};
  world.finish(agreement);
  EXPECT_EQ(agreement.outcome().code, ErrorCode::inconsistent_calls);
  const std::string& story = agreement.outcome().story;
  EXPECT_NE(story.find("compute rank " + std::to_string(100 + odd) + " called close of file"),
            std::string::npos)
      << story;
  EXPECT_NE(story.find("compute rank 100 called end_step"), std::string::npos) << story;
}

// By the communicator's own operation, and by messages between some ranks.
TEST(Collective, JoinsWhatEachRankHas) {
  const World world;
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> all;
  for (int rank = 0; rank < world.ranks(); ++rank) {
    counts.push_back((rank + 1) % 3);  // some have nothing
    all.insert(all.end(), static_cast<std::size_t>(counts.back()), 10 * rank);
  }
  const std::vector<std::int64_t> mine(
      static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]), 10 * world.rank());
  std::vector<int> some(static_cast<std::size_t>(world.ranks()));
  std::iota(some.begin(), some.end(), 0);
  for (const Circle& circle : {Circle{world.comm()}, Circle{world.comm(), some, 3}}) {
    Collective operation;
    operation.join(circle, mine, counts);
    for (mpi::Nap nap; !operation.test();) {
      nap.pause();
    }
    EXPECT_EQ(operation.values(), all);
  }
}

TEST(KernelPlacing, TellsAllRanksTheRoundsInTheirOrder) {
  const World world;
  KernelPlacing placing{
      world.comm(), world.members(), [](std::int64_t step, const auto& flags) {
        KernelPlacing::Round round{step, {}, {}};
        for (std::size_t i = 0; i < flags.size(); ++i) {
          if (flags[i] != 0) {
            round.places.push_back({step, static_cast<int>(i), 1000 * step + flags[i]});
          }
        }
        if (step == 2) {
          round.outcome = {ErrorCode::storage_failure, "no room in step 2"};
        }
        return round;
      }};
  constexpr std::int64_t rounds = 4;
  for (std::int64_t step = 0; step < rounds; ++step) {
    auto mine = end_of_step(step);
    // Each step has one variable more; the last rank is the only one that put something.
    mine.flags.assign(static_cast<std::size_t>(step) + 1, 0);
    mine.flags.back() = world.rank() == world.ranks() - 1 ? 1 : 0;
    placing.begin(std::move(mine));
  }
  std::vector<KernelPlacing::Round> told;
  mpi::Nap nap;
  while (!placing.is_idle()) {
    (void)placing.advance([&](const auto& round) { told.push_back(round); });
    nap.pause();
  }
  ASSERT_EQ(told.size(), static_cast<std::size_t>(rounds));
  for (std::int64_t step = 0; step < rounds; ++step) {
    const auto& round = told[static_cast<std::size_t>(step)];
    EXPECT_EQ(round.step, step);
    EXPECT_EQ(round.outcome.ok(), step != 2);
    ASSERT_EQ(round.places.size(), 1U);
    EXPECT_EQ(round.places[0].variable, step);
    EXPECT_EQ(round.places[0].offset, 1000 * step + 1);
  }
}

}  // namespace
}  // namespace iocomp::client
