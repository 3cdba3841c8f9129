// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "base/order.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::formats {

/// The rank to give to aggregator `number` of `aggregators`, or to the `number`-th of the others,
/// among `ranks`: ADIOS2 cuts the ranks into as many parts as there are aggregators, and takes the
/// first of each. Aggregator 0 gets rank 0.
[[nodiscard]] int rank_for(bool aggregates, int number, int aggregators, int ranks);

/// The ranks that open a file together, in the order that makes the chosen ones aggregate.
struct Openers {
  mpi::Communicator comm;
  int aggregators = 0;
  bool aggregates = false;  ///< this rank
};

/// Choose `per_node` ranks on every node (all of them where a node has fewer). Needs no table of
/// ranks. Collective over `writers`, who must all be about to call it.
/// @param writers  in the order of the nodes' ranks; its rank 0 is rank 0 of the result.
[[nodiscard]] Openers openers(MPI_Comm writers, Order order, int per_node,
                              const mpi::WaitPolicy& policy, const char* what);

}  // namespace iocomp::formats
