// SPDX-License-Identifier: BSD-3-Clause
#include "placement/seats.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "placement/mapping.h"
#include "placement/placement.h"
#include "topology/node.h"

namespace iocomp::placement {
namespace {

constexpr std::array<const char*, closeness_count> names{"on one hardware thread",
                                                         "on SMT siblings",
                                                         "on one core",
                                                         "on cores of one L3",
                                                         "in one NUMA domain",
                                                         "on cores of one node",
                                                         "on different nodes",
                                                         "not bound to cores of their own"};

struct Position {
  int numa = 0;
  int l3 = 0;
  std::size_t core = 0;
  std::size_t thread = 0;
};

std::optional<Position> position(const topology::Node& node, int cpu) {
  for (std::size_t core = 0; core < node.cores.size(); ++core) {
    const auto& threads = node.cores[core].threads;
    const auto found = std::find_if(threads.begin(), threads.end(),
                                    [cpu](const auto& thread) { return thread.cpu == cpu; });
    if (found != threads.end()) {
      return Position{node.cores[core].numa, node.cores[core].l3, core,
                      static_cast<std::size_t>(found - threads.begin())};
    }
  }
  return std::nullopt;
}

// The cores of these CPUs; a CPU that is not in the topology is a core of its own.
std::vector<std::size_t> cores_of(const topology::Node& node, const std::vector<int>& cpus) {
  std::vector<std::size_t> cores;
  for (const int cpu : cpus) {
    const auto found = position(node, cpu);
    cores.push_back(found ? found->core : node.cores.size() + static_cast<std::size_t>(cpu));
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

Closeness on_one_core(const std::vector<int>& left, const std::vector<int>& right) {
  std::vector<int> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                        std::back_inserter(common));
  if (common.empty()) {
    return Closeness::sibling;
  }
  return left.size() == 1 && right.size() == 1 ? Closeness::same_thread : Closeness::shared_core;
}

bool is(const Pairs& pairs, std::initializer_list<Closeness> kinds) {
  const auto all = std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
  std::int64_t those = 0;
  for (const auto kind : kinds) {
    those += pairs.at(static_cast<std::size_t>(kind));
  }
  return those == all;
}

}  // namespace

Closeness closeness(const topology::Node& node, const std::vector<int>& left,
                    const std::vector<int>& right) {
  const auto left_cores = cores_of(node, left);
  const auto right_cores = cores_of(node, right);
  if (left_cores.size() == 1 && left_cores == right_cores) {
    return on_one_core(left, right);
  }
  std::vector<std::size_t> common;
  std::set_intersection(left_cores.begin(), left_cores.end(), right_cores.begin(),
                        right_cores.end(), std::back_inserter(common));
  if (left.empty() || right.empty() || !common.empty()) {
    return Closeness::unbound;
  }
  const auto a = position(node, left.front());
  const auto b = position(node, right.front());
  if (!a || !b) {
    return Closeness::same_node;
  }
  if (a->l3 >= 0 && a->l3 == b->l3) {
    return Closeness::same_l3;
  }
  return a->numa == b->numa ? Closeness::same_numa : Closeness::same_node;
}

std::int64_t strangers(const topology::Node& node, const std::vector<std::vector<int>>& cpus,
                       const std::vector<int>& server_of) {
  std::multimap<std::size_t, int> servers_on;                 // by core
  std::vector<std::pair<std::size_t, std::size_t>> computes;  // core, rank
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    const auto cores = cores_of(node, cpus[rank]);
    if (cores.size() != 1) {
      continue;
    }
    if (server_of[rank] == static_cast<int>(rank)) {
      servers_on.emplace(cores.front(), static_cast<int>(rank));
    } else {
      computes.emplace_back(cores.front(), rank);
    }
  }
  return std::ranges::count_if(computes, [&](const auto& seat) {
    const auto [begin, end] = servers_on.equal_range(seat.first);
    return std::any_of(begin, end,
                       [&](const auto& server) { return server.second != server_of[seat.second]; });
  });
}

const char* text(Closeness closeness) noexcept {
  return names[static_cast<std::size_t>(closeness)];
}

std::string text(const Pairs& pairs) {
  const auto all = std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
  std::string told;
  for (std::size_t kind = 0; kind < pairs.size(); ++kind) {
    if (pairs.at(kind) > 0) {
      told += (told.empty() ? "" : ", ") + std::to_string(pairs.at(kind)) + " of " +
              std::to_string(all) + ' ' + names.at(kind);
    }
  }
  return told.empty() ? "no pairs" : told;
}

std::string found_mapping(const Pairs& pairs) {
  using enum Closeness;
  if (is(pairs, {})) {
    return name_of(Mapping::sequential);
  }
  if (is(pairs, {same_thread})) {
    return name_of(Mapping::oversubscribe);
  }
  if (is(pairs, {sibling, shared_core})) {
    return name_of(Mapping::hyperthread);
  }
  if (is(pairs, {same_l3, same_numa, same_node, other_node})) {
    return name_of(Mapping::consecutive);
  }
  return pairs.at(static_cast<std::size_t>(unbound)) > 0 ? "unbound" : "mixed";
}

bool agrees(Mapping asked, const Pairs& pairs) {
  using enum Closeness;
  const bool any = !is(pairs, {});
  switch (asked) {
    case Mapping::sequential:
      return !any;
    case Mapping::consecutive:
      return any && is(pairs, {same_l3, same_numa, same_node, other_node});
    case Mapping::hyperthread:
      // With several compute ranks per server it sits beside the first of them.
      return pairs.at(static_cast<std::size_t>(sibling)) > 0 &&
             is(pairs, {sibling, same_l3, same_numa, same_node});
    case Mapping::oversubscribe:
      return pairs.at(static_cast<std::size_t>(same_thread)) > 0 &&
             is(pairs, {same_thread, sibling, same_l3, same_numa, same_node});
    case Mapping::l3:
      return any && is(pairs, {same_l3});
    case Mapping::numa:
      return any && is(pairs, {same_l3, same_numa});
    case Mapping::node:
      return any && is(pairs, {same_l3, same_numa, same_node});
    case Mapping::nodes:
      return any && is(pairs, {other_node});
  }
  return false;
}

std::optional<std::vector<int>> servers_by_seats(const topology::Node& node,
                                                 const std::vector<std::vector<int>>& cpus,
                                                 int servers) {
  std::vector<Position> seats;
  for (const auto& allowed : cpus) {
    const auto seat = allowed.empty() ? std::nullopt : position(node, allowed.front());
    if (!seat || cores_of(node, allowed).size() != 1) {
      return std::nullopt;
    }
    seats.push_back(*seat);
  }
  std::vector<int> order(cpus.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&seats](int left, int right) {
    const auto key = [&seats](int rank) {
      const Position& seat = seats[static_cast<std::size_t>(rank)];
      return std::tuple{seat.numa, seat.l3, seat.core, seat.thread};
    };
    return key(left) < key(right);
  });
  std::vector<int> server_of(cpus.size());
  const auto group = [&](std::size_t seat) {
    return share_of(seat, order.size(), static_cast<std::size_t>(servers));
  };
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && group(end) == group(begin)) {
      ++end;
    }
    // The highest thread of its core; among equals the last, so that low ranks compute.
    const auto server = *std::max_element(
        order.begin() + static_cast<std::ptrdiff_t>(begin),
        order.begin() + static_cast<std::ptrdiff_t>(end), [&seats](int left, int right) {
          return std::tuple{seats[static_cast<std::size_t>(left)].thread, left} <
                 std::tuple{seats[static_cast<std::size_t>(right)].thread, right};
        });
    for (; begin < end; ++begin) {
      server_of[static_cast<std::size_t>(order[begin])] = server;
    }
  }
  return server_of;
}

}  // namespace iocomp::placement
