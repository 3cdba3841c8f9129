// SPDX-License-Identifier: BSD-3-Clause
#include "formats/aggregators.h"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/checked.h"
#include "base/order.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::formats {

int rank_for(bool aggregates, int number, int aggregators, int ranks) {
  // The first parts have one rank more where they cannot be equal.
  const int least = ranks / aggregators;
  const int larger = ranks % aggregators;
  if (aggregates) {
    return number * least + std::min(number, larger);
  }
  const int in_larger = larger * least;  // of the others
  if (number < in_larger) {
    return number / least * (least + 1) + 1 + number % least;
  }
  const int rest = number - in_larger;
  return larger * (least + 1) + rest / (least - 1) * least + 1 + rest % (least - 1);
}

Openers openers(MPI_Comm writers, Order order, int per_node, const mpi::WaitPolicy& policy,
                const char* what) {
  int rank = 0;
  int ranks = 0;
  mpi::check(MPI_Comm_rank(writers, &rank));
  mpi::check(MPI_Comm_size(writers, &ranks));
  const mpi::Communicator node = mpi::node_of(writers, policy, what);
  const int on_node = mpi::size(node);
  const auto positions = serving_positions(order, on_node, std::min(per_node, on_node));
  const bool aggregates = std::ranges::binary_search(positions, mpi::rank(node));

  std::int64_t sum = aggregates ? 1 : 0;
  const int before = checked_cast<int>(mpi::sum_before(writers, sum, policy, what));
  mpi::sum(writers, std::span{&sum, 1}, policy, what);
  const int aggregators = checked_cast<int>(sum);
  const int mine = rank_for(aggregates, aggregates ? before : rank - before, aggregators, ranks);
  MPI_Comm ordered = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split(writers, 0, mine, &ordered));
  mpi::Communicator comm{ordered};
  mpi::check(MPI_Comm_set_errhandler(ordered, MPI_ERRORS_RETURN));
  return {std::move(comm), aggregators, aggregates};
}

}  // namespace iocomp::formats
