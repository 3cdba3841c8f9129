// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace iocomp::placement {

enum class Policy {
  halves,  ///< groups of `node_size` ranks alternate: compute, servers; what is left is cut in half
  spread,  ///< on every node each (N/k)-th rank serves, k servers per node
  packed,  ///< on every node the k lowest ranks serve
  tail,    ///< on every node the k highest ranks serve
  list,    ///< the ranks named in `servers`
};

/// A request for a placement.
struct Request {
  Policy policy = Policy::halves;
  int servers_per_node = 0;    ///< spread, packed, tail; 0: as many as `ratio` needs
  int ratio = 1;               ///< compute ranks per server, when servers_per_node is 0
  int node_size = 0;           ///< halves: ranks per group; 0: the ranks of the first node
  std::vector<int> servers{};  ///< list
};

/// The compute ranks, the servers, and who belongs to whom. Ranks are those of the session.
struct Placement {
  std::vector<int> compute;  ///< session ranks that compute, ascending: index = rank in iocomp_comm
  std::vector<int> servers;  ///< session ranks that serve, ascending: index = number of the server
  std::vector<int> home;     ///< by compute rank (index as in `compute`): number of its server
  std::string reason;        ///< one line for the report: policy, counts
};

/// Decide. A pure function: the same on every rank. Every compute rank has a home, every server at
/// least one client.
/// @param node_of_rank  number of the node of every rank, nodes numbered from 0 in order of their
/// first rank.
/// @throws Error{invalid_setting} for requests that are impossible, naming what would be possible.
[[nodiscard]] Placement place(const Request& request, const std::vector<int>& node_of_rank);

/// The functions below place ranks node by node, so that no rank must know all others; `place` is
/// made of the same parts.
inline constexpr int no_server = -1;
/// @throws Error{invalid_setting} for requests that are impossible with so many ranks.
void check(const Request& request, int ranks);
/// Policy halves with groups of `group` ranks: the server of `rank`, itself if it serves.
[[nodiscard]] int server_in_halves(int rank, int ranks, int group);
/// All other policies: by position on a node (of these session ranks, ascending) the server's rank,
/// itself if it serves. `no_server`: adopted by another node; under list by the servers that have
/// nobody (all, if none) in equal shares, else by the server with the nearest lower rank, or the
/// lowest of all.
/// @pre request.servers is ascending
/// @throws Error{invalid_setting} when more than half of the node would serve.
[[nodiscard]] std::vector<int> place_on_node(const Request& request, const std::vector<int>& ranks);
/// `items` in order, cut into shares whose sizes differ by at most one: the share of an item.
[[nodiscard]] std::size_t share_of(std::size_t item, std::size_t items, std::size_t shares);
/// One line for the report.
[[nodiscard]] std::string counts(std::size_t compute, std::size_t servers, std::size_t nodes);
[[noreturn]] void no_server_anywhere();
/// @param idle  servers that no rank of their node belongs to. @param orphans  ranks without one
[[noreturn]] void too_many_servers(const std::vector<int>& idle, std::size_t orphans,
                                   std::size_t servers, std::size_t ranks);

/// The number of a node's ranks that serve under policies that know nodes.
/// @throws Error{invalid_setting} when that is more than half of them.
[[nodiscard]] std::size_t servers_on_node(const Request& request, std::size_t ranks);

/// @throws Error{invalid_setting} naming the policies.
[[nodiscard]] Policy policy(const std::string& name);

}  // namespace iocomp::placement
