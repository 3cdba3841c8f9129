// SPDX-License-Identifier: BSD-3-Clause
#include "session/placing.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "placement/placement.h"
#include "session/others.h"

namespace iocomp::session {
namespace {

// One placement, as seen by one rank.
class Placing {
 public:
  Placing(const mpi::Communicator& all, MPI_Comm node, placement::Request request,
          const mpi::WaitPolicy& policy)
      : all_{all.raw()},
        node_{node},
        request_{std::move(request)},
        policy_{policy},
        rank_{mpi::rank(all)},
        ranks_{mpi::size(all)} {
    mpi::check(MPI_Comm_rank(node_, &position_));
    std::ranges::sort(request_.servers);
  }

  int server() {
    placement::check(request_, ranks_);
    if (request_.policy == placement::Policy::halves) {
      return placement::server_in_halves(rank_, ranks_, group());
    }
    const auto local = place_on_node();
    const int mine = local[static_cast<std::size_t>(position_)];
    return request_.policy == placement::Policy::list ? among_idle(local, mine)
                                                      : among_neighbours(mine);
  }

 private:
  // The ranks of the first node, unless said otherwise.
  int group() {
    std::int64_t group = request_.node_size;
    if (group == 0) {
      int size = 0;
      mpi::check(MPI_Comm_size(node_, &size));
      group = rank_ == 0 ? size : 0;
      mpi::maximum(all_, std::span{&group, 1}, policy_, others);
    }
    return static_cast<int>(group);
  }

  std::vector<int> place_on_node() {
    std::vector<int> ranks;
    for (const auto rank : mpi::gather_to_all(node_, rank_, policy_, others)) {
      ranks.push_back(static_cast<int>(rank));
    }
    std::vector<int> local;
    Outcome placed = outcome_of([&] { local = placement::place_on_node(request_, ranks); });
    placed = mpi::agree(all_, placed, policy_, others);
    placed.throw_unless_ok();
    return local;
  }

  int among_neighbours(int mine) {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    const bool serves = mine == rank_;
    const auto before = mpi::maximum_before(all_, serves ? rank_ : -1, -1, policy_, others);
    std::int64_t lowest = serves ? -rank_ : none;
    mpi::maximum(all_, std::span{&lowest, 1}, policy_, others);
    if (lowest == none) {
      placement::no_server_anywhere();
    }
    if (mine != placement::no_server) {
      return mine;
    }
    return static_cast<int>(before >= 0 ? before : -lowest);
  }

  int among_idle(const std::vector<int>& local, int mine) {
    const auto& serving = request_.servers;
    std::vector<std::int64_t> busy(serving.size());
    if (mine != placement::no_server && mine != rank_) {
      busy[static_cast<std::size_t>(std::ranges::lower_bound(serving, mine) - serving.begin())] = 1;
    }
    mpi::maximum(all_, busy, policy_, others);
    std::vector<int> takers;
    for (std::size_t i = 0; i < serving.size(); ++i) {
      if (busy[i] == 0) {
        takers.push_back(serving[i]);
      }
    }
    // Orphans are counted node by node, nodes in the order of their first ranks.
    const std::int64_t here = std::ranges::count(local, placement::no_server);
    const bool leads = position_ == 0;
    std::int64_t before = mpi::sum_before(all_, leads ? here : 0, policy_, others);
    before = leads ? before : 0;
    mpi::maximum(node_, std::span{&before, 1}, policy_, others);
    std::int64_t orphans = leads ? here : 0;
    mpi::sum(all_, std::span{&orphans, 1}, policy_, others);
    if (static_cast<std::int64_t>(takers.size()) > orphans) {
      placement::too_many_servers(takers, static_cast<std::size_t>(orphans), serving.size(),
                                  static_cast<std::size_t>(ranks_));
    }
    if (mine != placement::no_server) {
      return mine;
    }
    const auto& from = takers.empty() ? serving : takers;
    const auto index =
        before + std::count(local.begin(), local.begin() + position_, placement::no_server);
    return from[placement::share_of(static_cast<std::size_t>(index),
                                    static_cast<std::size_t>(orphans), from.size())];
  }

  MPI_Comm all_;
  MPI_Comm node_;
  placement::Request request_;
  const mpi::WaitPolicy& policy_;
  int rank_;
  int ranks_;
  int position_ = 0;  // on the node
};

}  // namespace

int place_rank(const mpi::Communicator& all, MPI_Comm node, placement::Request request,
               const mpi::WaitPolicy& policy) {
  return Placing{all, node, std::move(request), policy}.server();
}

}  // namespace iocomp::session
