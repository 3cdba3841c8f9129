// SPDX-License-Identifier: BSD-3-Clause
#include "session/seating.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>

#include "mpi/agree.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "topology/binding.h"

namespace iocomp::session {
namespace {

const mpi::WaitPolicy& policy() {
  static const mpi::WaitPolicy quiet{30};
  return quiet;
}

void sit_on(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  ASSERT_EQ(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

// Rank 0 computes, the others serve; all are on one hardware thread.
TEST(Seating, AServerOnTheHardwareThreadOfAComputeRankHasNothingOfItLeft) {
  const auto allowed = topology::allowed_cpus();
  sit_on(allowed.front());
  const auto world = mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
  const Seating seating{world, policy()};
  const bool computes = mpi::rank(world) == 0;
  EXPECT_EQ(seating.core_share(computes), computes ? 1.0 : 0.0);
}

TEST(Seating, AServerOnAHardwareThreadOfItsOwnHasAllOfIt) {
  const auto world = mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    CPU_SET(cpu, &all);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
  const auto allowed = topology::allowed_cpus();
  if (allowed.size() < 2) {
    GTEST_SKIP() << "one CPU";
  }
  const bool computes = mpi::rank(world) == 0;
  sit_on(allowed[computes ? 0 : 1]);
  const Seating seating{world, policy()};
  EXPECT_EQ(seating.core_share(computes), 1.0);
}

}  // namespace
}  // namespace iocomp::session
