#include "placement/placement.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "placement/order.h"

namespace iocomp::placement {
namespace {

[[noreturn]] void impossible(const std::string& what) {
  throw Error{ErrorCode::invalid_setting, what};
}

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::vector<std::vector<int>> ranks_of_nodes(const std::vector<int>& node_of_rank) {
  std::vector<std::vector<int>> nodes;
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of_rank[rank]);
    if (node >= nodes.size()) {
      nodes.resize(node + 1);
    }
    nodes[node].push_back(static_cast<int>(rank));
  }
  return nodes;
}

/// `clients` in order, cut into one block per server, sizes differing by at most one.
void serve_in_blocks(const std::vector<int>& clients, const std::vector<int>& servers,
                     std::vector<int>& server_of) {
  const std::size_t base = clients.size() / servers.size();
  const std::size_t larger = clients.size() % servers.size();
  std::size_t next = 0;
  for (std::size_t s = 0; s < servers.size(); ++s) {
    const std::size_t share = base + (s < larger ? 1 : 0);
    for (std::size_t i = 0; i < share; ++i) {
      server_of[static_cast<std::size_t>(clients[next++])] = servers[s];
    }
  }
}

void place_halves(const Request& request, const std::vector<std::vector<int>>& nodes,
                  std::vector<int>& server_of) {
  const int ranks = static_cast<int>(server_of.size());
  const int group =
      request.node_size > 0 ? request.node_size : static_cast<int>(nodes.front().size());
  int first = 0;
  for (; first + 2 * group <= ranks; first += 2 * group) {
    for (int i = 0; i < group; ++i) {
      server_of[static_cast<std::size_t>(first + i)] = first + group + i;
    }
  }
  const int left = ranks - first;
  const int serving = left / 2;
  const int computing = left - serving;
  for (int i = 0; i < computing; ++i) {
    // The extra rank of an odd remainder computes, and belongs to the last server.
    const int server = serving > 0 ? first + computing + std::min(i, serving - 1) : first - 1;
    server_of[static_cast<std::size_t>(first + i)] = server;
  }
}

std::size_t servers_on_node(const Request& request, std::size_t ranks) {
  if (request.servers_per_node > 0) {
    const auto wanted = static_cast<std::size_t>(request.servers_per_node);
    if (2 * wanted > ranks && ranks > 1) {
      impossible("placement.servers_per_node = " + std::to_string(wanted) + " on a node with " +
                 plural(ranks, "rank") + ": at most " + std::to_string(ranks / 2) +
                 " can serve, so that every server has a compute rank");
    }
    return ranks > 1 ? wanted : 0;
  }
  const auto group = static_cast<std::size_t>(request.ratio) + 1;
  return std::min((ranks + group - 1) / group, ranks / 2);
}

Order order_of(Policy policy) {
  switch (policy) {
    case Policy::spread:
      return Order::spread;
    case Policy::tail:
      return Order::tail;
    default:
      return Order::packed;
  }
}

/// A node too small for a server of its own: its ranks belong to the servers of the node before (or
/// after) it.
void adopt_orphans(const std::vector<std::vector<int>>& nodes, std::vector<int>& server_of,
                   const std::set<int>& serving) {
  for (const auto& node : nodes) {
    for (const int rank : node) {
      auto& server = server_of[static_cast<std::size_t>(rank)];
      if (server < 0 && !serving.contains(rank)) {
        auto after = serving.upper_bound(rank);
        server = after == serving.begin() ? *after : *std::prev(after);
      }
    }
  }
}

void place_per_node(const Request& request, const std::vector<std::vector<int>>& nodes,
                    std::vector<int>& server_of) {
  std::set<int> serving;
  for (const auto& node : nodes) {
    const std::size_t count = servers_on_node(request, node.size());
    if (count == 0) {
      continue;
    }
    const auto positions = serving_positions(
        order_of(request.policy), static_cast<int>(node.size()), static_cast<int>(count));
    std::vector<int> servers;
    std::vector<int> clients;
    for (std::size_t i = 0; i < node.size(); ++i) {
      const bool serves = std::ranges::find(positions, static_cast<int>(i)) != positions.end();
      (serves ? servers : clients).push_back(node[i]);
    }
    serving.insert(servers.begin(), servers.end());
    serve_in_blocks(clients, servers, server_of);
  }
  if (serving.empty()) {
    impossible(
        "no node has two ranks, so none can spare one as a server: start more ranks per node, "
        "use placement.policy = \"halves\" or \"list\", or mode = \"sync\"");
  }
  adopt_orphans(nodes, server_of, serving);
}

void place_list(const Request& request, const std::vector<std::vector<int>>& nodes,
                std::vector<int>& server_of) {
  const std::set<int> serving(request.servers.begin(), request.servers.end());
  const int ranks = static_cast<int>(server_of.size());
  if (serving.empty()) {
    impossible(
        "placement.policy = \"list\" needs placement.servers, a list of ranks between 0 and " +
        std::to_string(ranks - 1));
  }
  if (serving.size() != request.servers.size()) {
    std::vector<int> sorted = request.servers;
    std::sort(sorted.begin(), sorted.end());
    impossible("placement.servers names rank " +
               std::to_string(*std::adjacent_find(sorted.begin(), sorted.end())) + " twice");
  }
  if (*serving.begin() < 0 || *serving.rbegin() >= ranks) {
    const int bad = *serving.begin() < 0 ? *serving.begin() : *serving.rbegin();
    impossible("placement.servers names rank " + std::to_string(bad) +
               ", this job has ranks 0 to " + std::to_string(ranks - 1));
  }
  std::vector<int> orphans;
  for (const auto& node : nodes) {
    std::vector<int> servers;
    std::vector<int> clients;
    for (const int rank : node) {
      (serving.contains(rank) ? servers : clients).push_back(rank);
    }
    if (servers.empty() || clients.size() < servers.size()) {
      orphans.insert(orphans.end(), clients.begin(), clients.end());
    } else {
      serve_in_blocks(clients, servers, server_of);
    }
  }
  // Servers on nodes where nobody (or too few) computes take the ranks of nodes that have no
  // server.
  const std::set<int> busy(server_of.begin(), server_of.end());
  std::vector<int> idle;
  std::ranges::set_difference(serving, busy, std::back_inserter(idle));
  if (!orphans.empty()) {
    serve_in_blocks(orphans, idle.empty() ? std::vector<int>(serving.begin(), serving.end()) : idle,
                    server_of);
  }
}

Placement number(const std::vector<int>& server_of) {
  const std::set<int> serving(server_of.begin(), server_of.end());
  Placement result;
  for (std::size_t rank = 0; rank < server_of.size(); ++rank) {
    if (server_of[rank] >= 0) {
      result.compute.push_back(static_cast<int>(rank));
    }
  }
  for (const int server : serving) {
    if (server >= 0) {
      result.servers.push_back(server);
    }
  }
  for (const int rank : result.compute) {
    const auto found = std::lower_bound(result.servers.begin(), result.servers.end(),
                                        server_of[static_cast<std::size_t>(rank)]);
    result.home.push_back(static_cast<int>(found - result.servers.begin()));
  }
  return result;
}

}  // namespace

Placement place(const Request& request, const std::vector<int>& node_of_rank) {
  if (node_of_rank.size() < 2) {
    impossible(
        "asynchronous output needs a server, so at least 2 ranks; this job has 1: start one more "
        "rank, "
        "or use mode = \"sync\"");
  }
  const auto nodes = ranks_of_nodes(node_of_rank);
  std::vector<int> server_of(node_of_rank.size(),
                             -1);  // session rank of the server, by session rank
  switch (request.policy) {
    case Policy::halves:
      place_halves(request, nodes, server_of);
      break;
    case Policy::spread:
    case Policy::packed:
    case Policy::tail:
      place_per_node(request, nodes, server_of);
      break;
    case Policy::list:
      place_list(request, nodes, server_of);
      break;
  }
  Placement result = number(server_of);
  if (result.compute.size() + result.servers.size() != node_of_rank.size()) {
    impossible("asked for " + plural(node_of_rank.size() - result.compute.size(), "server") +
               " for " + plural(result.compute.size(), "compute rank") +
               ": every server needs a compute rank, so at most " +
               std::to_string(node_of_rank.size() / 2) + " of " +
               plural(node_of_rank.size(), "rank") + " can serve");
  }
  result.reason = plural(result.compute.size(), "compute rank") + ", " +
                  plural(result.servers.size(), "server") + " on " + plural(nodes.size(), "node");
  return result;
}

Policy policy(const std::string& name) {
  if (name == "halves" || name == "auto") {
    return Policy::halves;
  }
  if (name == "spread") {
    return Policy::spread;
  }
  if (name == "packed") {
    return Policy::packed;
  }
  if (name == "tail") {
    return Policy::tail;
  }
  if (name == "list") {
    return Policy::list;
  }
  impossible("placement.policy = \"" + name +
             "\": allowed are auto, halves, spread, packed, tail, list");
}

}  // namespace iocomp::placement
