// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/clock_offset.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>

#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::mpi {
namespace {

constexpr int tag = 7;

const WaitPolicy& policy() {
  static const WaitPolicy quick{30};
  return quick;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int my_rank() {
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  return rank;
}

TEST(ClockOffset, IsNothingWhereAllHaveOneClock) {
  const auto comm = duplicate(MPI_COMM_WORLD, policy(), "the others");
  const auto offset = clock_offset(comm.raw(), tag, clock_identity(), steady_seconds, policy());
  EXPECT_EQ(offset.seconds, 0);
  EXPECT_EQ(offset.error_seconds, 0);
}

// As on three nodes: the ranks of each have a clock of their own.
TEST(ClockOffset, IsAsExactAsItSays) {
  const auto comm = duplicate(MPI_COMM_WORLD, policy(), "the others");
  const int node = my_rank() % 3;
  const double ahead = 1000.0 * node;
  const auto offset = clock_offset(
      comm.raw(), tag, 40 + node, [ahead] { return steady_seconds() + ahead; }, policy());
  EXPECT_GE(offset.error_seconds, 0);
  EXPECT_LT(offset.error_seconds, 1);
  EXPECT_NEAR(offset.seconds, -ahead, offset.error_seconds + 1e-8);
}

}  // namespace
}  // namespace iocomp::mpi
