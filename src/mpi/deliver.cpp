// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/deliver.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/checked.h"
#include "mpi/error.h"
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
  std::vector<MPI_Request> sends;
  sends.reserve(letters.size());
  for (const auto& letter : letters) {
    sends.push_back(MPI_REQUEST_NULL);
    check(MPI_Issend(letter.numbers.data(), checked_cast<int>(letter.numbers.size()), MPI_INT,
                     letter.rank, tag, comm, &sends.back()));
  }
  std::vector<Letter> taken;
  MPI_Request all = MPI_REQUEST_NULL;
  bool entered = false;
  Nap nap;
  Deadline deadline{policy};
  for (int over = 0; over == 0;) {
    bool moved = take_one(comm, tag, taken);
    int sent = 0;
    if (!entered) {
      check(MPI_Testall(checked_cast<int>(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE));
    }
    if (sent != 0) {  // all of this rank's letters are in their receivers' hands
      entered = true;
      moved = true;
      check(MPI_Ibarrier(comm, &all));
    }
    if (entered) {
      check(MPI_Test(&all, &over, MPI_STATUS_IGNORE));
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
