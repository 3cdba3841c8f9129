// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/deliver.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/checked.h"
#include "mpi/error.h"
#include "mpi/under_way.h"
#include "mpi/wait.h"

namespace iocomp::mpi {
namespace {

bool take_one(MPI_Comm comm, int tag, std::vector<Letter>& taken) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &found, &message, &status));
  if (found == 0) {
    return false;
  }
  int count = 0;
  check(MPI_Get_count(&status, MPI_INT, &count));
  Letter letter{status.MPI_SOURCE, std::vector<int>(static_cast<std::size_t>(count))};
  check(MPI_Mrecv(letter.numbers.data(), count, MPI_INT, &message, MPI_STATUS_IGNORE));
  taken.push_back(std::move(letter));
  return true;
}

}  // namespace

std::vector<Letter> deliver(MPI_Comm comm, int tag, const std::vector<Letter>& letters,
                            const WaitPolicy& policy, const char* what) {
  UnderWay<std::vector<Letter>> way{comm, letters};
  for (const auto& letter : way.memory()) {
    check(MPI_Issend(letter.numbers.data(), checked_cast<int>(letter.numbers.size()), MPI_INT,
                     letter.rank, tag, comm, way.next()));
  }
  std::vector<Letter> taken;
  bool entered = false;
  Nap nap;
  Deadline deadline{policy};
  for (int over = 0; over == 0;) {
    bool moved = take_one(comm, tag, taken);
    check(MPI_Testall(checked_cast<int>(way.requests().size()), way.requests().data(), &over,
                      MPI_STATUSES_IGNORE));
    if (over != 0 && !entered) {  // all of this rank's letters are in their receivers' hands
      over = 0;
      entered = true;
      moved = true;
      check(MPI_Ibarrier(comm, way.next()));
    }
    if (moved) {
      nap.reset();
      deadline.moved();
    } else if (over == 0) {
      deadline.check([what] { return std::string{what}; });
      nap.pause();
    }
  }
  std::ranges::sort(taken, {}, &Letter::rank);
  return taken;
}

}  // namespace iocomp::mpi
