// SPDX-License-Identifier: BSD-3-Clause
#include "placement/node_cpus.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "placement/mapping.h"

namespace iocomp::placement {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// Local compute ranks of every server of the node.
std::vector<std::vector<std::size_t>> clients_of(const std::vector<int>& home, int servers) {
  std::vector<std::vector<std::size_t>> clients(static_cast<std::size_t>(servers));
  for (std::size_t i = 0; i < home.size(); ++i) {
    if (home[i] >= 0) {
      clients[static_cast<std::size_t>(home[i])].push_back(i);
    }
  }
  return clients;
}

/// First the first hardware thread of every core, then the second ones.
std::vector<int> threads_in_order(const UsableCores& cores) {
  std::vector<int> cpus;
  for (std::size_t depth = 0; cpus.size() < static_cast<std::size_t>(cores.thread_count());
       ++depth) {
    for (const auto& core : cores.cores()) {
      if (depth < core.cpus.size()) {
        cpus.push_back(core.cpus[depth]);
      }
    }
  }
  return cpus;
}

/// The nearest core that is free, the lower one of two; `nowhere` when none is.
std::size_t nearest_free(const UsableCores& cores, const std::vector<bool>& is_free,
                         std::size_t to) {
  std::size_t best = nowhere;
  std::pair<int, long> best_cost;
  for (std::size_t i = 0; i < is_free.size(); ++i) {
    if (is_free[i]) {
      const std::pair cost{cores.distance(i, to),
                           std::labs(static_cast<long>(i) - static_cast<long>(to))};
      if (best == nowhere || cost < best_cost) {
        best = i;
        best_cost = cost;
      }
    }
  }
  return best;
}

std::vector<int> one_after_the_other(const UsableCores& cores, std::size_t ranks) {
  auto cpus = threads_in_order(cores);
  cpus.resize(ranks);
  return cpus;
}

std::vector<int> on_shared_threads(const UsableCores& cores, const std::vector<int>& home,
                                   int servers) {
  auto cpus = one_after_the_other(cores, home.size());
  const auto clients = clients_of(home, servers);
  for (std::size_t server = 0; server < clients.size(); ++server) {
    // A server whose compute ranks are all elsewhere shares with whoever has its number.
    cpus.push_back(cpus[clients[server].empty() ? server : clients[server].front()]);
  }
  return cpus;
}

/// Cores of the compute ranks when servers need siblings: those with siblings first, if that is
/// enough.
std::vector<std::size_t> cores_with_siblings(const UsableCores& cores, std::size_t compute) {
  std::vector<std::size_t> chosen;
  const bool enough = compute <= static_cast<std::size_t>(cores.smt_core_count());
  for (std::size_t i = 0; i < cores.cores().size() && chosen.size() < compute; ++i) {
    if (!enough || cores.cores()[i].cpus.size() > 1) {
      chosen.push_back(i);
    }
  }
  return chosen;
}

std::vector<int> on_siblings(const UsableCores& cores, const std::vector<int>& home, int servers) {
  const auto core_of = cores_with_siblings(cores, home.size());
  std::vector<int> cpus;
  cpus.reserve(core_of.size() + static_cast<std::size_t>(servers));
  for (const auto core : core_of) {
    cpus.push_back(cores.cores()[core].cpus[0]);
  }
  std::vector<bool> sibling_is_free;
  for (const auto& core : cores.cores()) {
    sibling_is_free.push_back(core.cpus.size() > 1);
  }
  const auto clients = clients_of(home, servers);
  for (std::size_t server = 0; server < clients.size(); ++server) {
    const std::size_t wanted = clients[server].empty() ? server : core_of[clients[server].front()];
    const std::size_t core = nearest_free(cores, sibling_is_free, wanted);
    sibling_is_free[core] = false;
    cpus.push_back(cores.cores()[core].cpus[1]);
  }
  return cpus;
}

/// Every server with its compute ranks on neighbouring cores, one server after the other.
std::vector<int> beside_clients(const UsableCores& cores, const std::vector<int>& home,
                                int servers) {
  std::vector<int> cpus(home.size() + static_cast<std::size_t>(servers), -1);
  std::size_t next = 0;
  const auto take = [&](std::size_t rank) { cpus[rank] = cores.cores()[next++].cpus[0]; };
  const auto clients = clients_of(home, servers);
  for (std::size_t server = 0; server < clients.size(); ++server) {
    for (const auto client : clients[server]) {
      take(client);
    }
    take(home.size() + server);
  }
  for (std::size_t rank = 0; rank < home.size(); ++rank) {
    if (cpus[rank] < 0) {
      take(rank);
    }
  }
  return cpus;
}

/// Fills L3 groups or NUMA domains.
class DomainFiller {
 public:
  DomainFiller(const UsableCores& cores, Mapping mapping, const std::vector<int>& home, int servers)
      : cores_{cores},
        clients_{clients_of(home, servers)},
        compute_{home.size()},
        core_of_(home.size() + static_cast<std::size_t>(servers), nowhere),
        is_free_(cores.cores().size(), true) {
    choose_domains(cores.domains(mapping));
  }

  std::vector<int> fill() {
    for (std::size_t server = 0; server < clients_.size(); ++server) {
      fill_domain(server);
    }
    for (std::size_t rank = 0; rank < core_of_.size(); ++rank) {  // who found no room there
      if (core_of_[rank] == nowhere) {
        take(rank, nearest_free(cores_, is_free_, anchor_of(rank)));
      }
    }
    std::vector<int> cpus;
    cpus.reserve(core_of_.size());
    for (const auto core : core_of_) {
      cpus.push_back(cores_.cores()[core].cpus[0]);
    }
    return cpus;
  }

 private:
  using Domain = std::vector<std::size_t>;

  /// No more domains than all ranks need; where each gets one server, larger blocks of compute
  /// ranks go to larger domains.
  void choose_domains(std::vector<Domain> all) {
    std::vector<Domain> used;
    std::size_t room = 0;
    for (auto& domain : all) {
      if (room >= core_of_.size()) {
        break;
      }
      room += domain.size();
      used.push_back(std::move(domain));
    }
    const std::size_t servers = clients_.size();
    if (used.size() > servers) {  // domains of one core have no room for a server and its clients
      const auto is_small = [](const Domain& domain) { return domain.size() < 2; };
      const auto small = static_cast<std::size_t>(std::ranges::count_if(used, is_small));
      if (used.size() - small >= servers) {
        std::erase_if(used, is_small);
      }
    }
    std::vector<std::size_t> order(servers);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (used.size() == servers) {
      std::ranges::sort(used, {}, [](const Domain& domain) {
        return std::pair{-std::ssize(domain), domain.front()};
      });
      std::ranges::sort(order, {}, [this](std::size_t server) {
        return std::pair{-std::ssize(clients_[server]), server};
      });
    }
    domain_of_.resize(servers);
    servers_left_.assign(used.size(), 0);
    for (std::size_t i = 0; i < servers; ++i) {
      const std::size_t domain = i * used.size() / servers;
      domain_of_[order[i]] = domain;
      ++servers_left_[domain];
    }
    domains_ = std::move(used);
  }

  void fill_domain(std::size_t server) {
    const auto& domain = domains_[domain_of_[server]];
    auto& waiting = servers_left_[domain_of_[server]];
    for (const auto client : clients_[server]) {
      if (free_in(domain) > waiting) {
        take(client, first_free(domain));
      }
    }
    take(compute_ + server, first_free(domain));
    --waiting;
  }

  [[nodiscard]] std::size_t free_in(const Domain& domain) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(domain, [this](std::size_t core) { return is_free_[core]; }));
  }
  [[nodiscard]] std::size_t first_free(const Domain& domain) const {
    const auto found =
        std::ranges::find_if(domain, [this](std::size_t core) { return is_free_[core]; });
    return found == domain.end() ? nearest_free(cores_, is_free_, domain.front()) : *found;
  }
  /// The core of its server, or the first one.
  [[nodiscard]] std::size_t anchor_of(std::size_t rank) const {
    for (std::size_t server = 0; server < clients_.size(); ++server) {
      if (std::ranges::find(clients_[server], rank) != clients_[server].end()) {
        return core_of_[compute_ + server];
      }
    }
    return 0;
  }
  void take(std::size_t rank, std::size_t core) {
    core_of_[rank] = core;
    is_free_[core] = false;
  }

  const UsableCores& cores_;
  std::vector<std::vector<std::size_t>> clients_;  // by server
  std::size_t compute_;
  std::vector<std::size_t> core_of_;  // by rank of the node
  std::vector<bool> is_free_;
  std::vector<Domain> domains_;
  std::vector<std::size_t> domain_of_;     // by server
  std::vector<std::size_t> servers_left_;  // by domain: servers that have no core yet
};

}  // namespace

std::vector<int> assign_cpus(Mapping mapping, const UsableCores& cores,
                             const std::vector<int>& home, int servers) {
  const Population population{.compute = static_cast<int>(home.size()), .servers = servers};
  if (!fits(mapping, cores, population)) {
    throw Error{ErrorCode::internal, "assign_cpus was asked for more ranks than fit"};
  }
  switch (mapping) {
    case Mapping::oversubscribe:
      return on_shared_threads(cores, home, servers);
    case Mapping::hyperthread:
      return on_siblings(cores, home, servers);
    case Mapping::l3:
    case Mapping::numa:
      return DomainFiller{cores, mapping, home, servers}.fill();
    case Mapping::node:
      return beside_clients(cores, home, servers);
    default:
      return one_after_the_other(cores, home.size() + static_cast<std::size_t>(servers));
  }
}

}  // namespace iocomp::placement
