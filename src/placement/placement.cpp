// SPDX-License-Identifier: BSD-3-Clause
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

[[noreturn]] void impossible_setting(const std::string& what) {
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

std::vector<int> servers_of_node(const Request& request, const std::vector<int>& ranks) {
  std::vector<int> servers;
  if (request.policy == Policy::list) {
    std::ranges::copy_if(ranks, std::back_inserter(servers), [&request](int rank) {
      return std::ranges::binary_search(request.servers, rank);
    });
    return servers;
  }
  const std::size_t count = servers_on_node(request, ranks.size());
  if (count > 0) {
    for (const int position : serving_positions(
             order_of(request.policy), static_cast<int>(ranks.size()), static_cast<int>(count))) {
      servers.push_back(ranks[static_cast<std::size_t>(position)]);
    }
  }
  return servers;
}

void adopt_by_neighbours(std::vector<int>& server_of) {
  int last = no_server;
  std::vector<std::size_t> first;  // before any server
  for (std::size_t rank = 0; rank < server_of.size(); ++rank) {
    auto& server = server_of[rank];
    if (server == static_cast<int>(rank)) {
      if (last == no_server) {
        std::ranges::for_each(first, [&](std::size_t orphan) { server_of[orphan] = server; });
      }
      last = server;
    } else if (server == no_server && last == no_server) {
      first.push_back(rank);
    } else if (server == no_server) {
      server = last;
    }
  }
  if (last == no_server) {
    no_server_anywhere();
  }
}

// Servers on nodes where nobody (or too few) computes take the ranks of nodes that have no server.
void adopt_by_idle(const Request& request, const std::vector<int>& orphans,
                   std::vector<int>& server_of) {
  std::set<int> busy;
  for (std::size_t rank = 0; rank < server_of.size(); ++rank) {
    if (server_of[rank] != static_cast<int>(rank)) {
      busy.insert(server_of[rank]);
    }
  }
  const std::set<int> serving(request.servers.begin(), request.servers.end());
  std::vector<int> idle;
  std::ranges::set_difference(serving, busy, std::back_inserter(idle));
  if (idle.size() > orphans.size()) {
    too_many_servers(idle, orphans.size(), serving.size(), server_of.size());
  }
  const std::vector<int> takers =
      idle.empty() ? std::vector<int>(serving.begin(), serving.end()) : idle;
  for (std::size_t i = 0; i < orphans.size(); ++i) {
    server_of[static_cast<std::size_t>(orphans[i])] =
        takers[share_of(i, orphans.size(), takers.size())];
  }
}

// Numbers compute ranks and servers. @param server_of  by session rank its server, itself for
// servers.
Placement number(const std::vector<int>& server_of, std::size_t nodes) {
  Placement result;
  for (std::size_t rank = 0; rank < server_of.size(); ++rank) {
    const bool serves = server_of[rank] == static_cast<int>(rank);
    (serves ? result.servers : result.compute).push_back(static_cast<int>(rank));
  }
  for (const int rank : result.compute) {
    const auto found =
        std::ranges::lower_bound(result.servers, server_of[static_cast<std::size_t>(rank)]);
    result.home.push_back(static_cast<int>(found - result.servers.begin()));
  }
  result.reason = counts(result.compute.size(), result.servers.size(), nodes);
  return result;
}

}  // namespace

void no_server_anywhere() {
  impossible_setting(
      "no node has two ranks, so none can spare one as a server: start more ranks per node, "
      "use placement.policy = \"halves\", name ranks in placement.servers, or ask for none "
      "(placement.servers = \"none\" or mode = \"sync\")");
}

void too_many_servers(const std::vector<int>& idle, std::size_t orphans, std::size_t servers,
                      std::size_t ranks) {
  if (servers <= ranks / 2) {
    impossible_setting(
        "placement.servers names rank " + std::to_string(idle.front()) +
        (idle.size() > 1 ? " and " + std::to_string(idle.size() - 1) + " more" : "") +
        " on nodes with more servers than compute ranks: these nodes have " +
        plural(orphans, "compute rank") + " for " + plural(idle.size(), "server") +
        "; take servers from nodes where more ranks compute");
  }
  impossible_setting("asked for " + plural(servers, "server") + " for " +
                     plural(ranks - servers, "compute rank") +
                     ": every server needs a compute rank, so at most " +
                     std::to_string(ranks / 2) + " of " + plural(ranks, "rank") + " can serve");
}

std::string counts(std::size_t compute, std::size_t servers, std::size_t nodes) {
  return plural(compute, "compute rank") + ", " + plural(servers, "server") + " on " +
         plural(nodes, "node");
}

std::size_t share_of(std::size_t item, std::size_t items, std::size_t shares) {
  const std::size_t base = items / shares;
  const std::size_t larger = items % shares;  // the first shares have one more
  const std::size_t in_larger = larger * (base + 1);
  return item < in_larger ? item / (base + 1) : larger + (item - in_larger) / base;
}

int server_in_halves(int rank, int ranks, int group) {
  const int paired = ranks / (2 * group) * (2 * group);
  if (rank < paired) {
    return rank % (2 * group) < group ? rank + group : rank;
  }
  const int left = ranks - paired;
  const int serving = left / 2;
  const int computing = left - serving;
  const int position = rank - paired;
  if (position >= computing) {
    return rank;
  }
  // The extra rank of an odd remainder computes, and belongs to the last server.
  return serving > 0 ? paired + computing + std::min(position, serving - 1) : paired - 1;
}

void check(const Request& request, int ranks) {
  if (ranks < 2) {
    impossible_setting(
        "servers were asked for, so the job needs at least 2 ranks; it has 1: start one more rank, "
        "or ask for none (placement.servers = \"none\" or mode = \"sync\")");
  }
  if (request.policy != Policy::list) {
    return;
  }
  std::vector<int> serving = request.servers;
  std::ranges::sort(serving);
  if (serving.empty()) {
    impossible_setting("policy list needs the ranks that serve, between 0 and " +
                       std::to_string(ranks - 1));
  }
  if (const auto twice = std::ranges::adjacent_find(serving); twice != serving.end()) {
    impossible_setting("placement.servers names rank " + std::to_string(*twice) + " twice");
  }
  if (serving.front() < 0 || serving.back() >= ranks) {
    const int bad = serving.front() < 0 ? serving.front() : serving.back();
    impossible_setting("placement.servers names rank " + std::to_string(bad) +
                       ", this job has ranks 0 to " + std::to_string(ranks - 1));
  }
}

std::size_t servers_on_node(const Request& request, std::size_t ranks) {
  if (request.servers_per_node > 0) {
    const auto wanted = static_cast<std::size_t>(request.servers_per_node);
    if (2 * wanted > ranks && ranks > 1) {
      impossible_setting("placement.servers = \"" + std::to_string(wanted) +
                         " per node\" on a node with " + plural(ranks, "rank") + ": at most " +
                         std::to_string(ranks / 2) +
                         " can serve, so that every server has a compute rank");
    }
    return ranks > 1 ? wanted : 0;
  }
  const auto group = static_cast<std::size_t>(request.ratio) + 1;
  return std::min((ranks + group - 1) / group, ranks / 2);
}

std::vector<int> place_on_node(const Request& request, const std::vector<int>& ranks) {
  const auto servers = servers_of_node(request, ranks);
  const std::size_t clients = ranks.size() - servers.size();
  const bool served = !servers.empty() && clients >= servers.size();
  std::vector<int> server_of;
  std::size_t client = 0;
  for (const int rank : ranks) {
    if (std::ranges::binary_search(servers, rank)) {
      server_of.push_back(rank);
    } else {
      server_of.push_back(served ? servers[share_of(client++, clients, servers.size())]
                                 : no_server);
    }
  }
  return server_of;
}

Placement place(const Request& asked, const std::vector<int>& node_of_rank) {
  const int ranks = static_cast<int>(node_of_rank.size());
  check(asked, ranks);
  Request request = asked;
  std::ranges::sort(request.servers);
  const auto nodes = ranks_of_nodes(node_of_rank);
  std::vector<int> server_of(node_of_rank.size());
  if (request.policy == Policy::halves) {
    const int group =
        request.node_size > 0 ? request.node_size : static_cast<int>(nodes.front().size());
    for (int rank = 0; rank < ranks; ++rank) {
      server_of[static_cast<std::size_t>(rank)] = server_in_halves(rank, ranks, group);
    }
    return number(server_of, nodes.size());
  }
  std::vector<int> orphans;
  for (const auto& node : nodes) {
    const auto local = place_on_node(request, node);
    for (std::size_t i = 0; i < node.size(); ++i) {
      server_of[static_cast<std::size_t>(node[i])] = local[i];
      if (local[i] == no_server) {
        orphans.push_back(node[i]);
      }
    }
  }
  if (request.policy == Policy::list) {
    adopt_by_idle(request, orphans, server_of);
  } else {
    adopt_by_neighbours(server_of);
  }
  return number(server_of, nodes.size());
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
  impossible_setting("placement.policy = \"" + name +
                     "\": allowed are auto, halves, spread, packed, tail, list");
}

}  // namespace iocomp::placement
