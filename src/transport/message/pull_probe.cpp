// SPDX-License-Identifier: BSD-3-Clause
#include "transport/message/pull_probe.h"

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "mpi/error.h"
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

}  // namespace

bool probe_as_sender(MPI_Comm comm, int receiver, const mpi::WaitPolicy& policy) {
  const std::vector<std::byte> bulk(probe_bytes);
  const int go = 1;
  int answer = 0;
  MPI_Request requests[3];
  mpi::check(MPI_Irecv(&answer, 1, MPI_INT, receiver, answer_tag, comm, &requests[2]));
  mpi::check(MPI_Isend(&go, 1, MPI_INT, receiver, go_tag, comm, &requests[0]));
  mpi::check(
      MPI_Isend(bulk.data(), probe_bytes, MPI_BYTE, receiver, probe_tag, comm, &requests[1]));
  std::this_thread::sleep_for(pause);
  for (auto& request : requests) {
    mpi::wait(request, policy, what);
  }
  return answer != 0;
}

void probe_as_receiver(MPI_Comm comm, int sender, const mpi::WaitPolicy& policy) {
  std::vector<std::byte> bulk(probe_bytes);
  int go = 0;
  MPI_Request requests[2];
  mpi::check(MPI_Irecv(bulk.data(), probe_bytes, MPI_BYTE, sender, probe_tag, comm, &requests[1]));
  mpi::check(MPI_Irecv(&go, 1, MPI_INT, sender, go_tag, comm, &requests[0]));
  mpi::wait(requests[0], policy, what);
  const double begin = now_seconds();
  mpi::wait(requests[1], policy, what);
  const int answer = now_seconds() - begin < soon_seconds ? 1 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Isend(&answer, 1, MPI_INT, sender, answer_tag, comm, &request));
  mpi::wait(request, policy, what);
}

}  // namespace iocomp::transport
