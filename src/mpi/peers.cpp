// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/peers.h"

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/error.h"
#include "mpi/handle.h"

namespace iocomp::mpi {

Peers::Peers(MPI_Comm comm, Group members) : known_{std::make_shared<Known>()} {
  known_->all = group_of(comm);
  known_->members = std::move(members);
  check(MPI_Group_size(known_->members.raw(), &known_->size));
}

int Peers::rank(int index) const {
  const auto [found, is_new] = known_->ranks.try_emplace(index, MPI_UNDEFINED);
  if (is_new) {
    check(MPI_Group_translate_ranks(known_->members.raw(), 1, &index, known_->all.raw(),
                                    &found->second));
  }
  return found->second;
}

Group other_half(MPI_Comm comm, MPI_Comm own, int other_leader, int tag) {
  MPI_Comm between = MPI_COMM_NULL;
  check(MPI_Intercomm_create(own, 0, comm, other_leader, tag, &between));
  MPI_Group group = MPI_GROUP_NULL;
  check(MPI_Comm_remote_group(between, &group));
  Group members{group};
  check(MPI_Comm_free(&between));
  return members;
}

Group group_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm, &group));
  return Group{group};
}

std::vector<int> ranks_of(MPI_Group group, MPI_Comm all) {
  const Group there = group_of(all);
  int size = 0;
  check(MPI_Group_size(group, &size));
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  std::vector<int> ranks(members.size(), MPI_UNDEFINED);
  check(MPI_Group_translate_ranks(group, size, members.data(), there.raw(), ranks.data()));
  return ranks;
}

}  // namespace iocomp::mpi
