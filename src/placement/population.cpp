// SPDX-License-Identifier: BSD-3-Clause
#include "placement/population.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "placement/map_request.h"
#include "placement/mapping.h"
#include "placement/node_cpus.h"
#include "placement/shares.h"

namespace iocomp::placement {
namespace {

/// Shares the ranks of a job out among nodes and among compute ranks and servers.
class Planner {
 public:
  explicit Planner(const MapRequest& request) : request_{request} {
    for (const auto& node : request.machine.kinds) {
      kinds_.emplace_back(node);
    }
    for (const auto& kind : kinds_) {
      room_of_kind_.push_back(room_on(kind));
    }
  }

  [[nodiscard]] std::size_t nodes() const { return request_.machine.kind_of_node.size(); }
  [[nodiscard]] const UsableCores& cores(std::size_t node) const {
    return kinds_[request_.machine.kind_of_node[node]];
  }

  [[nodiscard]] std::vector<int> room() const {
    std::vector<int> room;
    for (std::size_t node = 0; node < nodes(); ++node) {
      room.push_back(room_of_kind_[request_.machine.kind_of_node[node]]);
      if (request_.servers_per_node > 0 && serves_whole(node)) {
        room.back() = std::min(room.back(), request_.servers_per_node);
      }
    }
    return room;
  }

  [[nodiscard]] std::vector<Population> share_out(int ranks) const {
    if (in_groups(request_)) {
      return groups(ranks);
    }
    const auto shares = even_shares(ranks, room());
    std::vector<Population> populations;
    for (std::size_t node = 0; node < shares.size(); ++node) {
      const int servers =
          serves_whole(node) ? shares[node] : servers_among(cores(node), shares[node]);
      populations.push_back({.compute = shares[node] - servers, .servers = servers});
    }
    return populations;
  }

 private:
  /// Largest number of ranks that fit a node of this kind.
  [[nodiscard]] int room_on(const UsableCores& cores) const {
    int ranks = 2 * cores.thread_count();
    if (request_.node_size > 0) {
      const bool both =
          request_.mapping == Mapping::hyperthread || request_.mapping == Mapping::oversubscribe;
      ranks = std::min(ranks, both ? 2 * request_.node_size : request_.node_size);
    }
    for (; ranks > 0; --ranks) {
      const int servers = in_groups(request_) ? ranks / 2 : servers_among(cores, ranks);
      if (fits(request_.mapping, cores, {.compute = ranks - servers, .servers = servers})) {
        break;
      }
    }
    return ranks;
  }

  /// As placement::place does: rounded up, but never more servers than compute ranks.
  [[nodiscard]] int servers_among(const UsableCores& cores, int ranks) const {
    if (request_.mapping == Mapping::sequential || request_.mapping == Mapping::nodes) {
      return 0;
    }
    if (request_.servers_per_node > 0) {
      return std::min(request_.servers_per_node, ranks / 2);
    }
    const bool per_domain = request_.mapping == Mapping::l3 || request_.mapping == Mapping::numa;
    if (per_domain && !request_.ratio) {
      return std::min(ranks / 2, domain_servers(cores, ranks));
    }
    const Ratio ratio = request_.ratio.value_or(Ratio{});
    const long group = static_cast<long>(ratio.compute) + ratio.servers;
    const long wanted = (static_cast<long>(ranks) * ratio.servers + group - 1) / group;
    return std::min(ranks / 2, static_cast<int>(wanted));
  }

  /// One for every domain that gets at least two ranks when they fill one domain after the other.
  [[nodiscard]] int domain_servers(const UsableCores& cores, int ranks) const {
    int servers = 0;
    for (const auto& domain : cores.domains(request_.mapping)) {
      servers += ranks > 1 && domain.size() > 1 ? 1 : 0;
      ranks -= static_cast<int>(domain.size());
    }
    return std::max(servers, 1);
  }

  [[nodiscard]] bool serves_whole(std::size_t node) const {
    if (request_.mapping != Mapping::nodes) {
      return false;
    }
    const auto period = serving_period(request_);
    return node % period == period - 1;
  }

  /// Policy halves (placement.cpp) by counts: whole groups alternate, what is left is cut in half.
  [[nodiscard]] std::vector<Population> groups(int ranks) const {
    const int group = request_.node_size;
    const int per_node = request_.mapping == Mapping::consecutive ? group : 2 * group;
    const int whole = ranks / (2 * group) * (2 * group);
    const int left = ranks - whole;
    const auto computes = [&](int rank) {
      return rank < whole ? rank / group % 2 == 0 : rank - whole < left - left / 2;
    };
    std::vector<Population> populations(nodes());
    for (int rank = 0; rank < ranks; ++rank) {
      auto& population = populations[static_cast<std::size_t>(rank / per_node)];
      ++(computes(rank) ? population.compute : population.servers);
    }
    return populations;
  }

  const MapRequest& request_;
  std::vector<UsableCores> kinds_;
  std::vector<int> room_of_kind_;
};

int total(const std::vector<int>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0);
}

int compute_ranks(const std::vector<Population>& populations) {
  int count = 0;
  for (const auto& population : populations) {
    count += population.compute;
  }
  return count;
}

std::string other_mappings_with_room(const MapRequest& request, int ranks) {
  std::string found;
  for (const auto mapping : {Mapping::consecutive, Mapping::hyperthread, Mapping::oversubscribe}) {
    MapRequest other = request;
    other.mapping = mapping;
    if (mapping != request.mapping && total(Planner{other}.room()) >= ranks) {
      found += (found.empty() ? "" : " or ") + name_of(mapping);
    }
  }
  return found;
}

[[noreturn]] void refuse_too_many(const MapRequest& request, int ranks, int room,
                                  const std::string& kind) {
  std::string what = "asked for " + number_text(ranks) + ' ' + kind + ": mapping " +
                     name_of(request.mapping) + " has room for " + number_text(room) + " on " +
                     nodes_text(request.machine.kind_of_node.size());
  const int per_node = room / static_cast<int>(request.machine.kind_of_node.size());
  what += "; nearest: " + (room > 0 ? number_text(room) + ' ' + kind : std::string{});
  if (per_node > 0) {
    what += ", or " + number_text((ranks + per_node - 1) / per_node) + " such nodes";
  }
  if (const auto others = other_mappings_with_room(request, ranks);
      !others.empty() && request.mapping != Mapping::sequential) {
    what += ", or mapping " + others;
  }
  impossible(what);
}

void check_servers_per_node(const MapRequest& request, const std::vector<Population>& found) {
  if (request.servers_per_node == 0 || request.mapping == Mapping::nodes) {
    return;
  }
  for (std::size_t node = 0; node < found.size(); ++node) {
    const int ranks = found[node].compute + found[node].servers;
    if (ranks > 1 && found[node].servers < request.servers_per_node) {
      impossible("asked for " + number_text(request.servers_per_node) +
                 " servers on every node, but node " + std::to_string(node) + " gets " +
                 number_text(ranks) + " ranks, and every server needs a compute rank: nearest is " +
                 number_text(found[node].servers));
    }
  }
}

/// Groups are laid out whatever the nodes have room for.
void check_groups(const MapRequest& request, const Planner& planner,
                  const std::vector<Population>& found) {
  for (std::size_t node = 0; in_groups(request) && node < found.size(); ++node) {
    if (!fits(request.mapping, planner.cores(node), found[node])) {
      impossible("node size " + number_text(request.node_size) + " with mapping " +
                 name_of(request.mapping) + " puts " + number_text(found[node].compute) +
                 " compute ranks and " + number_text(found[node].servers) + " servers on node " +
                 std::to_string(node) + ", which has " +
                 number_text(planner.cores(node).core_count()) + " cores: nearest is node size " +
                 number_text(planner.cores(node).core_count()));
    }
  }
}

bool short_of_servers(const MapRequest& request, const std::vector<Population>& found) {
  const long compute = compute_ranks(found);
  long servers = 0;
  for (const auto& population : found) {
    servers += population.servers;
  }
  if (request.servers_per_node > 0) {
    return servers < static_cast<long>(request.servers_per_node) * static_cast<long>(found.size());
  }
  const Ratio ratio = request.ratio.value_or(Ratio{});
  const bool per_domain = request.mapping == Mapping::l3 || request.mapping == Mapping::numa;
  return (request.ratio || !per_domain) && servers * ratio.compute < compute * ratio.servers;
}

/// The fewest ranks among which so many compute and that have the servers asked for. Adding a rank
/// adds one compute rank or one server.
int ranks_for(const MapRequest& request, const Planner& planner, int compute, int most) {
  int low = compute;
  int high = most;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (compute_ranks(planner.share_out(middle)) < compute) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  while (low < most && short_of_servers(request, planner.share_out(low)) &&
         compute_ranks(planner.share_out(low + 1)) == compute) {
    ++low;
  }
  return low;
}

int ranks_wanted(const MapRequest& request, const Planner& planner) {
  const int room = total(planner.room());
  if (request.compute_ranks > 0) {
    const int most = compute_ranks(planner.share_out(room));
    if (request.compute_ranks > most) {
      refuse_too_many(request, request.compute_ranks, most, "compute ranks");
    }
    return ranks_for(request, planner, request.compute_ranks, room);
  }
  const int ranks = request.ranks > 0 ? request.ranks : room;
  if (ranks > room) {
    refuse_too_many(request, ranks, room, "ranks");
  }
  return ranks;
}

}  // namespace

int nodes_needed(Mapping mapping, int ranks, int node_size) {
  if (node_size <= 0 || ranks <= 0) {
    return 1;
  }
  const bool both = mapping == Mapping::hyperthread || mapping == Mapping::oversubscribe;
  const int per_node = both ? 2 * node_size : node_size;
  return (ranks + per_node - 1) / per_node;
}

std::vector<Population> populate(const MapRequest& request) {
  check(request);
  const Planner planner{request};
  const int ranks = ranks_wanted(request, planner);
  auto populations = planner.share_out(ranks);
  check_servers_per_node(request, populations);
  check_groups(request, planner, populations);
  const bool serves = std::ranges::any_of(
      populations, [](const Population& population) { return population.servers > 0; });
  if (!serves && request.mapping != Mapping::sequential) {
    impossible("mapping " + name_of(request.mapping) + " needs a server, and " +
               number_text(ranks) + (ranks == 1 ? " rank on " : " ranks on ") +
               nodes_text(populations.size()) +
               " leave none: nearest is 2 ranks on a node, or mapping sequential");
  }
  return populations;
}

}  // namespace iocomp::placement
