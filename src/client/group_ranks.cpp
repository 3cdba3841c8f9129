// SPDX-License-Identifier: BSD-3-Clause
#include "client/group_ranks.h"

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/peers.h"

namespace iocomp::client {

std::vector<int> ranks_within(MPI_Comm all, MPI_Comm comm) {
  int is_inter = 0;
  mpi::check(MPI_Comm_test_inter(comm, &is_inter));
  if (is_inter != 0) {
    throw Error{
        ErrorCode::invalid_argument,
        "the communicator of a file is an intra-communicator, a part of iocomp_comm(): this "
        "one is an inter-communicator"};
  }
  const auto ours = mpi::ranks_of(mpi::group_of(comm).raw(), all);
  if (std::find(ours.begin(), ours.end(), MPI_UNDEFINED) != ours.end()) {
    throw Error{ErrorCode::invalid_argument,
                "the communicator of a file may contain only ranks of iocomp_comm(): one of this "
                "has others"};
  }
  return ours;
}

bool have_same_ranks(MPI_Comm one, MPI_Comm other) {
  int alike = MPI_UNEQUAL;
  mpi::check(MPI_Comm_compare(one, other, &alike));
  return alike == MPI_IDENT || alike == MPI_CONGRUENT;
}

}  // namespace iocomp::client
