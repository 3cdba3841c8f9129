// SPDX-License-Identifier: BSD-3-Clause
#include "transport/message/pull_probe.h"

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "mpi/error.h"
#include "mpi/under_way.h"
#include "mpi/wait.h"

namespace iocomp::transport {
namespace {

constexpr int probe_bytes = 1 << 20;
constexpr std::chrono::milliseconds pause{10};
constexpr double soon_seconds = 0.007;  // well before the sender is back
constexpr int go_tag = 11;
constexpr int probe_tag = 12;
constexpr int answer_tag = 13;
constexpr const char* what = "the probe of the message transport";

struct Probe {
  std::vector<std::byte> bulk = std::vector<std::byte>(probe_bytes);
  int go = 0;
  int answer = 0;
};

}  // namespace

bool probe_as_sender(MPI_Comm comm, int receiver, const mpi::WaitPolicy& policy) {
  mpi::UnderWay<Probe> way{comm};
  auto& [bulk, go, answer] = way.memory();
  go = 1;
  mpi::check(MPI_Irecv(&answer, 1, MPI_INT, receiver, answer_tag, comm, way.next()));
  mpi::check(MPI_Isend(&go, 1, MPI_INT, receiver, go_tag, comm, way.next()));
  mpi::check(MPI_Isend(bulk.data(), probe_bytes, MPI_BYTE, receiver, probe_tag, comm, way.next()));
  std::this_thread::sleep_for(pause);
  way.wait(policy, what);
  return answer != 0;
}

void probe_as_receiver(MPI_Comm comm, int sender, const mpi::WaitPolicy& policy) {
  mpi::UnderWay<Probe> way{comm};
  auto& [bulk, go, answer] = way.memory();
  mpi::check(MPI_Irecv(bulk.data(), probe_bytes, MPI_BYTE, sender, probe_tag, comm, way.next()));
  mpi::check(MPI_Irecv(&go, 1, MPI_INT, sender, go_tag, comm, way.next()));
  mpi::wait(way.requests().back(), policy, what);
  const double begin = now_seconds();
  way.wait(policy, what);
  answer = now_seconds() - begin < soon_seconds ? 1 : 0;
  mpi::check(MPI_Isend(&answer, 1, MPI_INT, sender, answer_tag, comm, way.next()));
  way.wait(policy, what);
}

}  // namespace iocomp::transport
