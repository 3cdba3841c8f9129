// SPDX-License-Identifier: BSD-3-Clause
#include "common/servers.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "common/ranks.h"

namespace iocomp::bench {
namespace {

using namespace std::chrono_literals;

// A stopped server has to leave its core, a continued one to look around once and sleep again.
constexpr auto settling_time = 3ms;

}  // namespace

Servers::Servers() : processes_(static_cast<std::size_t>(apps::size_of(MPI_COMM_WORLD))) {
  static_assert(sizeof(pid_t) == sizeof(int));
  const pid_t own = getpid();
  MPI_Allgather(&own, 1, MPI_INT, processes_.data(), 1, MPI_INT, MPI_COMM_WORLD);
}

void Servers::find(MPI_Comm compute) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group computing = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(compute, &computing);
  std::vector<int> ranks(processes_.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> found(ranks.size());
  MPI_Group_translate_ranks(world, static_cast<int>(ranks.size()), ranks.data(), computing,
                            found.data());
  MPI_Group_free(&world);
  MPI_Group_free(&computing);
  servers_.clear();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (found[rank] == MPI_UNDEFINED) servers_.push_back(processes_[rank]);
  }
}

ProcessAccount Servers::account() const {
  ProcessAccount sum;
  for (const pid_t server : servers_) {
    const ProcessAccount one = account_of(server);
    sum.cpu_seconds += one.cpu_seconds;
    sum.wake_ups += one.wake_ups;
    sum.resident_bytes += one.resident_bytes;
    sum.peak_bytes += one.peak_bytes;
  }
  return sum;
}

void Servers::hold() const {
  for (const pid_t server : servers_) kill(server, SIGSTOP);
  std::this_thread::sleep_for(settling_time);
}

void Servers::release() const {
  for (const pid_t server : servers_) kill(server, SIGCONT);
  std::this_thread::sleep_for(settling_time);
}

}  // namespace iocomp::bench
