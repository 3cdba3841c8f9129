// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/clock_offset.h"

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/host.h"
#include "base/system_file.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/under_way.h"
#include "mpi/wait_policy.h"

namespace iocomp::mpi {
namespace {

constexpr int questions = 20;
constexpr double nanosecond = 1e-9;
constexpr const char* for_the_clock = "the clock of another node";

void send_time(MPI_Comm comm, int rank, int tag, double time, const WaitPolicy& policy) {
  UnderWay<double> way{comm, time};
  check(MPI_Isend(&way.memory(), 1, MPI_DOUBLE, rank, tag, comm, way.next()));
  way.wait(policy, for_the_clock);
}

double receive_time(MPI_Comm comm, int rank, int tag, const WaitPolicy& policy) {
  UnderWay<double> way{comm};
  check(MPI_Irecv(&way.memory(), 1, MPI_DOUBLE, rank, tag, comm, way.next()));
  way.wait(policy, for_the_clock);
  return way.memory();
}

ClockOffset ask(MPI_Comm comm, int tag, const std::function<double()>& now,
                const WaitPolicy& policy) {
  ClockOffset best{.seconds = 0, .error_seconds = std::numeric_limits<double>::max()};
  for (int question = 0; question < questions; ++question) {
    const double before = now();
    send_time(comm, 0, tag, before, policy);
    const double there = receive_time(comm, 0, tag, policy);
    const double after = now();
    if ((after - before) / 2 < best.error_seconds) {
      best = {.seconds = there - (before + after) / 2, .error_seconds = (after - before) / 2};
    }
  }
  return best;
}

void answer(MPI_Comm comm, int rank, int tag, const std::function<double()>& now,
            const WaitPolicy& policy) {
  for (int question = 0; question < questions; ++question) {
    (void)receive_time(comm, rank, tag, policy);
    send_time(comm, rank, tag, now(), policy);
  }
}

}  // namespace

std::int64_t clock_identity() {
  std::string text = boot_id();
  if (text.empty()) {
    text = host_name();
  }
  text += ' ' + std::to_string(own_namespace("time"));
  return static_cast<std::int64_t>(std::hash<std::string>{}(text));
}

ClockOffset clock_offset(MPI_Comm comm, int tag, std::int64_t identity,
                         const std::function<double()>& now, const WaitPolicy& policy) {
  const auto clocks = gather_to_all(comm, identity, policy, for_the_clock);
  int mine = 0;
  check(MPI_Comm_rank(comm, &mine));
  std::set<std::int64_t> seen{clocks.front()};
  ClockOffset offset;
  int teller = 0;  // of this rank's clock
  for (std::size_t i = 1; i < clocks.size(); ++i) {
    const int rank = static_cast<int>(i);
    if (!seen.insert(clocks[i]).second) {
      continue;
    }
    teller = clocks[i] == identity ? rank : teller;
    if (mine == 0) {
      answer(comm, rank, tag, now, policy);
    } else if (mine == rank) {
      offset = ask(comm, tag, now, policy);
    }
  }
  const auto all = [&](double seconds) {
    return nanosecond *
           static_cast<double>(gather_to_all(comm, std::llround(seconds / nanosecond), policy,
                                             for_the_clock)[static_cast<std::size_t>(teller)]);
  };
  return {.seconds = all(offset.seconds), .error_seconds = all(offset.error_seconds)};
}

}  // namespace iocomp::mpi
