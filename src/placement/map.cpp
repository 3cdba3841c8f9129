// SPDX-License-Identifier: BSD-3-Clause
#include "placement/map.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "placement/mapping.h"
#include "placement/node_cpus.h"
#include "placement/placement.h"
#include "placement/population.h"

namespace iocomp::placement {
namespace {

std::vector<int> node_of_rank(const std::vector<Population>& populations) {
  std::vector<int> nodes;
  for (std::size_t node = 0; node < populations.size(); ++node) {
    const int ranks = populations[node].compute + populations[node].servers;
    nodes.insert(nodes.end(), static_cast<std::size_t>(ranks), static_cast<int>(node));
  }
  return nodes;
}

std::vector<int> serving_ranks(const std::vector<Population>& populations) {
  std::vector<int> servers;
  int first = 0;
  for (const auto& [compute, serving] : populations) {
    for (int i = 0; i < serving; ++i) {
      servers.push_back(first + compute + i);
    }
    first += compute + serving;
  }
  return servers;
}

/// The same number everywhere, where anybody serves at all.
std::optional<int> servers_on_each(const std::vector<Population>& populations) {
  std::optional<int> common;
  for (const auto& population : populations) {
    if (population.compute + population.servers == 0) {
      continue;
    }
    if (common && *common != population.servers) {
      return std::nullopt;
    }
    common = population.servers;
  }
  return common;
}

/// Settings that may make the library choose these servers, the shortest first.
std::vector<Request> candidates(const MapRequest& request,
                                const std::vector<Population>& populations, int ranks) {
  std::vector<Request> found;
  const Ratio ratio = request.ratio.value_or(Ratio{});
  const bool pairs = ratio.compute == ratio.servers && request.servers_per_node == 0;
  if (in_groups(request)) {
    found.push_back({.policy = Policy::halves, .node_size = request.node_size});
  } else if (pairs && populations.size() == 1) {
    found.push_back({.policy = Policy::halves, .node_size = ranks});
  } else if (request.mapping == Mapping::nodes) {
    const int group = populations.front().compute;
    found.push_back({.policy = Policy::halves, .node_size = std::max(group, 1)});
  } else if (ratio.servers == 1 && request.servers_per_node == 0) {
    found.push_back({.policy = Policy::tail, .ratio = ratio.compute});
  }
  if (const auto servers = servers_on_each(populations); servers && *servers > 0) {
    found.push_back({.policy = Policy::tail, .servers_per_node = *servers});
  }
  found.push_back({.policy = Policy::list, .servers = serving_ranks(populations)});
  return found;
}

std::vector<Seat> seat(const Placement& placement, const std::vector<int>& nodes) {
  std::vector<Seat> seats(nodes.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    seats[rank].node = nodes[rank];
  }
  for (std::size_t i = placement.compute.size(); i-- > 0;) {  // the lowest client stays
    const int rank = placement.compute[i];
    const int server = placement.servers[static_cast<std::size_t>(placement.home[i])];
    seats[static_cast<std::size_t>(rank)].pair = server;
    seats[static_cast<std::size_t>(server)].pair = rank;
    seats[static_cast<std::size_t>(server)].serves = true;
  }
  return seats;
}

Map choose_pairs(const MapRequest& request, const std::vector<Population>& populations) {
  const auto nodes = node_of_rank(populations);
  if (request.mapping == Mapping::sequential) {
    return {.seats = seat({}, nodes)};
  }
  const auto serving = serving_ranks(populations);
  auto settings = candidates(request, populations, static_cast<int>(nodes.size()));
  for (auto& candidate : settings) {
    const auto placement = place(candidate, nodes);
    if (placement.servers == serving) {
      return {.seats = seat(placement, nodes), .settings = std::move(candidate)};
    }
  }
  throw Error{ErrorCode::internal, "policy list does not take the servers it was given"};
}

/// The server of each compute rank of this node, by its number on the node.
std::vector<int> local_homes(const std::vector<Seat>& seats, int first,
                             const Population& population) {
  std::vector<int> home;
  const int first_server = first + population.compute;
  for (int rank = first; rank < first_server; ++rank) {
    const int server = seats[static_cast<std::size_t>(rank)].pair - first_server;
    home.push_back(server >= 0 && server < population.servers ? server : -1);
  }
  return home;
}

void give_cpus(const MapRequest& request, const std::vector<Population>& populations,
               std::vector<Seat>& seats) {
  std::vector<UsableCores> kinds;
  kinds.reserve(request.machine.kinds.size());
  for (const auto& node : request.machine.kinds) {
    kinds.emplace_back(node);
  }
  int first = 0;
  for (std::size_t node = 0; node < populations.size(); ++node) {
    const auto home = local_homes(seats, first, populations[node]);
    const auto cpus = assign_cpus(request.mapping, kinds[request.machine.kind_of_node[node]], home,
                                  populations[node].servers);
    for (const int cpu : cpus) {
      seats[static_cast<std::size_t>(first++)].cpu = cpu;
    }
  }
}

}  // namespace

Map map_ranks(const MapRequest& request) {
  const auto populations = populate(request);
  Map map = choose_pairs(request, populations);
  give_cpus(request, populations, map.seats);
  return map;
}

void seat_in_order(Map& map, const Machine& machine) {
  std::vector<std::vector<Seat*>> seats_of(machine.kind_of_node.size());
  for (auto& seat : map.seats) {
    seats_of.at(static_cast<std::size_t>(seat.node)).push_back(&seat);
  }
  for (std::size_t node = 0; node < seats_of.size(); ++node) {
    const UsableCores cores{machine.kinds[machine.kind_of_node[node]]};
    const Population population{.compute = static_cast<int>(seats_of[node].size())};
    if (!fits(Mapping::sequential, cores, population)) {
      throw Error{ErrorCode::invalid_argument,
                  "node " + std::to_string(node) + " gets " + std::to_string(population.compute) +
                      " ranks and has " + std::to_string(cores.thread_count()) +
                      " hardware threads: nearest is more nodes, or a smaller node size"};
    }
    const std::vector<int> home(seats_of[node].size(), -1);
    const auto cpus = assign_cpus(Mapping::sequential, cores, home, 0);
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      seats_of[node][i]->cpu = cpus[i];
    }
  }
}

Map map_policy(const Request& request, const std::vector<int>& node_of_rank) {
  return {.seats = seat(place(request, node_of_rank), node_of_rank), .settings = request};
}

}  // namespace iocomp::placement
