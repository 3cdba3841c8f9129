// SPDX-License-Identifier: BSD-3-Clause
#include "connection.h"

#include <mpi.h>

#include <memory>
#include <utility>

#include "base/crew.h"
#include "base/error.h"
#include "mpi/agree.h"
#include "transport/combined_transport.h"
#include "transport/message/message_transport.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/shared_transport.h"

namespace simulation {

namespace transport = iocomp::transport;

std::unique_ptr<transport::Transport> connect(const Plan& plan, MPI_Comm all, MPI_Comm node,
                                              bool serves, const iocomp::mpi::WaitPolicy& policy,
                                              iocomp::Crew* crew) {
  const auto credits = static_cast<int>(plan.credits);
  std::unique_ptr<transport::SharedTransport> here;
  if (plan.shares_memory) {
    int rank = 0;
    MPI_Comm_rank(all, &rank);
    const auto joined = iocomp::outcome_of([&] {
      transport::SharedTransport::Options options;
      options.window = credits;
      options.limited = !serves;
      options.exports = plan.way != "pull";
      options.is_whole_session = plan.nodes == 1;
      options.crew = crew;
      here = std::make_unique<transport::SharedTransport>(
          transport::join_node(node, rank, serves, "auto", policy), options);
    });
    if (!iocomp::mpi::agree(all, joined, policy, "the other ranks").ok()) {
      here.reset();
    }
  }
  if (here && plan.nodes == 1) {
    return here;
  }
  auto elsewhere = std::make_unique<transport::MessageTransport>(all, credits, !serves);
  if (!here) {
    return elsewhere;
  }
  return std::make_unique<transport::CombinedTransport>(std::move(here), std::move(elsewhere));
}

}  // namespace simulation
