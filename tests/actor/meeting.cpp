// SPDX-License-Identifier: BSD-3-Clause
#include "meeting.h"

#include <chrono>
#include <thread>

namespace actor {

void meet_asleep(MPI_Comm comm) {
  constexpr std::chrono::microseconds nap{200};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  for (int met = 0; met == 0;) {
    MPI_Test(&request, &met, MPI_STATUS_IGNORE);
    if (met == 0) {
      std::this_thread::sleep_for(nap);
    }
  }
}

}  // namespace actor
