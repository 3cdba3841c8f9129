// SPDX-License-Identifier: BSD-3-Clause
#include "counts.h"

#include <simgrid/actor.h>
#include <smpi/mpi.h>

#include <deque>

#include "ranks.h"

namespace {

std::deque<smpi_counts>& all() {
  static auto& counts = *new std::deque<smpi_counts>;
  return counts;
}

smpi_counts& of(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= all().size()) {
    all().resize(index + 1);
  }
  return all()[index];
}

}  // namespace

smpi_counts& smpi::counts_of_this() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  of(rank).actor = static_cast<int>(sg_actor_self_get_pid());
  return of(rank);
}

const smpi_counts* smpi_counts_of(int rank) { return &of(rank); }

void smpi_begin_measuring() {
  for (auto& counts : all()) {
    counts.most_pending = 0;
    counts.longest_message = 0;
  }
}
