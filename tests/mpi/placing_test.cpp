// SPDX-License-Identifier: BSD-3-Clause
#include "session/placing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "mpi/agree.h"
#include "mpi/deliver.h"
#include "mpi/error.h"
#include "mpi/peers.h"
#include "mpi/wait.h"

// Every rank decides for itself; together they must have decided what placement::place decides
// with a table of all. Nodes are made up: neighbours, or dealt out in turn.
namespace iocomp::session {
namespace {

using placement::Policy;
using placement::Request;

const mpi::WaitPolicy& policy() {
  static const mpi::WaitPolicy quick{30};
  return quick;
}

struct Decision {
  int server = -1;
  std::string story;

  bool operator==(const Decision&) const = default;
};

Decision expected(const Request& request, const std::vector<int>& node_of_rank, int rank) {
  try {
    const auto placement = placement::place(request, node_of_rank);
    for (std::size_t i = 0; i < placement.compute.size(); ++i) {
      if (placement.compute[i] == rank) {
        return {placement.servers[static_cast<std::size_t>(placement.home[i])], {}};
      }
    }
    return {rank, {}};
  } catch (const Error& error) {
    return {-1, error.what()};
  }
}

Decision decided(const mpi::Communicator& world, MPI_Comm node, const Request& request) {
  try {
    return {place_rank(world, node, request, policy()), {}};
  } catch (const Error& error) {
    return {-1, error.what()};
  }
}

std::vector<Request> requests(int ranks) {
  std::vector<Request> all;
  for (const int group : {0, 1, 2, 3}) {
    all.push_back({.policy = Policy::halves, .node_size = group});
  }
  for (const auto policy : {Policy::spread, Policy::packed, Policy::tail}) {
    for (const int ratio : {1, 2, 3}) {
      all.push_back({.policy = policy, .ratio = ratio});
    }
    for (const int servers : {1, 2}) {
      all.push_back({.policy = policy, .servers_per_node = servers});
    }
  }
  for (int chosen = 0; chosen < (1 << ranks); ++chosen) {
    Request list{.policy = Policy::list};
    for (int rank = 0; rank < ranks; ++rank) {
      if ((chosen >> rank & 1) != 0) {
        list.servers.insert(list.servers.begin(), rank);  // in any order
      }
    }
    all.push_back(list);
  }
  all.push_back({.policy = Policy::list, .servers = {0, 0}});
  all.push_back({.policy = Policy::list, .servers = {ranks}});
  return all;
}

TEST(PlaceRank, DecidesWhatATableOfAllWould) {
  const auto world = mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
  const int rank = mpi::rank(world);
  const int ranks = mpi::size(world);
  for (int size = 1; size <= ranks; ++size) {
    for (const bool in_turn : {false, true}) {
      const int nodes = (ranks + size - 1) / size;
      const auto node_of = [&](int one) { return in_turn ? one % nodes : one / size; };
      std::vector<int> node_of_rank;
      for (int one = 0; one < ranks; ++one) {
        node_of_rank.push_back(node_of(one));
      }
      MPI_Comm raw = MPI_COMM_NULL;
      mpi::check(MPI_Comm_split(world.raw(), node_of(rank), rank, &raw));
      const mpi::Communicator node{raw};
      for (const auto& request : requests(ranks)) {
        const auto wanted = expected(request, node_of_rank, rank);
        const auto found = decided(world, node.raw(), request);
        EXPECT_EQ(found.story, wanted.story);
        EXPECT_EQ(found.server, wanted.server)
            << "policy " << static_cast<int>(request.policy) << ", node size " << size
            << (in_turn ? " in turn" : "") << ", group " << request.node_size << ", servers "
            << testing::PrintToString(request.servers);
      }
    }
  }
}

TEST(Deliver, BringsEveryLetterToItsReader) {
  const auto world = mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
  const int rank = mpi::rank(world);
  const int ranks = mpi::size(world);
  std::vector<mpi::Letter> letters;
  for (int to = 0; to < rank; ++to) {  // none from rank 0, none to the last
    letters.push_back({to, std::vector<int>(static_cast<std::size_t>(to), rank)});
  }
  const auto found = mpi::deliver(world.raw(), 7, letters, policy(), "the letters");
  ASSERT_EQ(found.size(), static_cast<std::size_t>(ranks - 1 - rank));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].rank, rank + 1 + static_cast<int>(i));
    EXPECT_EQ(found[i].numbers, std::vector<int>(static_cast<std::size_t>(rank), found[i].rank));
  }
}

TEST(Peers, KnowTheRanksOfBothHalvesOfASplit) {
  const auto world = mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
  const int rank = mpi::rank(world);
  const int ranks = mpi::size(world);
  if (ranks < 2) {
    GTEST_SKIP() << "one rank has no other half";
  }
  const bool odd = rank % 2 == 1;
  MPI_Comm raw = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split(world.raw(), odd ? 1 : 0, rank, &raw));
  const mpi::Communicator own{raw};
  const mpi::Peers others{world.raw(), mpi::other_half(world.raw(), own.raw(), odd ? 0 : 1, 9)};
  const mpi::Peers ours{world.raw(), mpi::group_of(own.raw())};
  EXPECT_EQ(ours.size() + others.size(), ranks);
  for (int i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours.rank(i), 2 * i + (odd ? 1 : 0));
  }
  for (int i = 0; i < others.size(); ++i) {
    EXPECT_EQ(others.rank(i), 2 * i + (odd ? 0 : 1));
    EXPECT_EQ(others.rank(i), 2 * i + (odd ? 0 : 1));  // asked again
  }
}

TEST(Scans, CountWhatIsBeforeARank) {
  const auto world = mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
  const int rank = mpi::rank(world);
  EXPECT_EQ(mpi::sum_before(world.raw(), rank + 1, policy(), "all"), rank * (rank + 1) / 2);
  EXPECT_EQ(mpi::maximum_before(world.raw(), rank, -5, policy(), "all"), rank == 0 ? -5 : rank - 1);
}

}  // namespace
}  // namespace iocomp::session
