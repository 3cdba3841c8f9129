// SPDX-License-Identifier: BSD-3-Clause
#include "session/ended_servers.h"

#include <mpi.h>

#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/peers.h"

namespace iocomp::session {
namespace {

// The servers of a session that has ended, by ranks in MPI_COMM_WORLD. There is one set for the
// process.
std::set<int>& servers_of_one_session() {
  static std::set<int> ranks;
  return ranks;
}

// The rank in MPI_COMM_WORLD by rank in the group; MPI_UNDEFINED for processes of other worlds.
std::vector<int> world_ranks(MPI_Group group) {
  const mpi::Group world = mpi::group_of(MPI_COMM_WORLD);
  int size = 0;
  mpi::check(MPI_Group_size(group, &size));
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> found(ranks.size(), MPI_UNDEFINED);
  mpi::check(MPI_Group_translate_ranks(group, size, ranks.data(), world.raw(), found.data()));
  return found;
}

}  // namespace

void note_servers_of_one_session(MPI_Group servers) {
  for (const int rank : world_ranks(servers)) {
    if (rank != MPI_UNDEFINED) {
      servers_of_one_session().insert(rank);
    }
  }
}

void check_that_nobody_served(MPI_Comm comm) {
  if (servers_of_one_session().empty()) {
    return;
  }
  const auto ranks = world_ranks(mpi::group_of(comm).raw());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (servers_of_one_session().contains(ranks[i])) {
      throw Error{
          ErrorCode::invalid_argument,
          "iocomp_init: rank " + std::to_string(i) +
              " of the communicator was a server of an earlier session, and servers serve "
              "one; set server.end = \"return\", so that they can take part in the next one"};
    }
  }
}

}  // namespace iocomp::session
