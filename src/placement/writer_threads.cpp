// SPDX-License-Identifier: BSD-3-Clause
#include "placement/writer_threads.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "placement/writer_policy.h"
#include "topology/node.h"

namespace iocomp::placement {
namespace {

struct CpuPlace {
  int domain = 0;
  int l3 = -1;
  bool is_allowed = false;
};

std::map<int, CpuPlace> cpu_places(const topology::Node& node) {
  std::map<int, CpuPlace> places;
  for (const auto& core : node.cores) {
    for (const auto& thread : core.threads) {
      places[thread.cpu] = {core.numa, core.l3, thread.allowed};
    }
  }
  return places;
}

/// The node as its writer threads see it.
class WriterNode {
 public:
  WriterNode(const topology::Node& node, std::span<const WritingProcess> processes, bool shares)
      : places_{cpu_places(node)}, packages_{packages_of(node)} {
    for (const auto& [cpu, place] : places_) {
      allowed_ += place.is_allowed ? 1 : 0;
    }
    std::set<int> owned;
    for (const auto& process : processes) {
      if (process.computes && !shares && is_bound(process)) {
        owned.insert(process.cpus.begin(), process.cpus.end());
      }
    }
    for (const auto& [cpu, place] : places_) {
      if (place.is_allowed && !owned.contains(cpu)) {
        free_[place.domain][place.l3].push_back(cpu);
        ++free_cpus_;
      }
    }
  }

  [[nodiscard]] bool is_bound(const WritingProcess& process) const {
    return !process.cpus.empty() && process.cpus.size() < allowed_;
  }
  [[nodiscard]] int domains() const { return static_cast<int>(packages_.size()); }
  [[nodiscard]] bool is_all_free() const noexcept { return free_cpus_ == allowed_; }
  [[nodiscard]] bool has_free(int domain) const { return free_.contains(domain); }

  /// The one of all its CPUs; -1 where they are on several, or it is not bound.
  [[nodiscard]] int domain_of(const WritingProcess& process) const {
    std::set<int> domains;
    for (const int cpu : process.cpus) {
      const auto found = places_.find(cpu);
      domains.insert(found == places_.end() ? 0 : found->second.domain);
    }
    return domains.size() == 1 ? *domains.begin() : -1;
  }

  /// The nearest of some domains, perhaps itself.
  [[nodiscard]] int nearest(int domain, const std::set<int>& among) const {
    return nearest_first(packages_, domain, among).front();
  }

  /// The CPUs for a thread on a domain. @param number  of the thread among those on the domain.
  [[nodiscard]] std::vector<int> free_on(int domain, WriterBinding binding,
                                         std::size_t number) const {
    std::vector<int> cpus;
    const auto& groups = free_.at(domain);
    std::size_t group = 0;
    for (const auto& [l3, in_group] : groups) {
      if (binding == WriterBinding::domain || group++ == number % groups.size()) {
        cpus.insert(cpus.end(), in_group.begin(), in_group.end());
      }
    }
    std::ranges::sort(cpus);
    return cpus;
  }

 private:
  std::map<int, CpuPlace> places_;                       // by CPU
  std::vector<int> packages_;                            // by domain
  std::map<int, std::map<int, std::vector<int>>> free_;  // by domain and L3 group
  std::size_t allowed_ = 0;
  std::size_t free_cpus_ = 0;
};

// The domains that the threads of a process take turns on.
std::vector<int> domains_for(const WriterNode& node, std::span<const WritingProcess> processes,
                             std::size_t self) {
  const int own = node.domain_of(processes[self]);
  std::set<int> claimed;
  for (const auto& process : processes) {
    const int domain = node.domain_of(process);
    if (process.computes == processes[self].computes && domain >= 0) {
      claimed.insert(domain);
    }
  }
  std::vector<int> domains;
  const int first = own >= 0 ? own : static_cast<int>(self);
  for (int i = 1; i <= node.domains(); ++i) {
    const int domain = (first + i) % node.domains();
    const bool is_near = own < 0 || node.nearest(domain, claimed) == own;
    if (is_near && node.has_free(domain)) {
      domains.push_back(domain);
    }
  }
  return domains;
}

}  // namespace

std::vector<WriterThread> seat_writer_threads(const topology::Node& node,
                                              std::span<const WritingProcess> processes,
                                              std::size_t self, int threads, WriterBinding binding,
                                              bool shares) {
  const WriterNode writers{node, processes, shares};
  const auto domains = domains_for(writers, processes, self);
  const int own = std::max(0, writers.domain_of(processes[self]));
  const bool is_whole_node = writers.domains() == 1 && writers.is_all_free() &&
                             binding == WriterBinding::domain && !writers.is_bound(processes[self]);
  std::vector<WriterThread> seats;
  std::map<int, std::size_t> number;  // of threads on a domain
  for (int thread = 1; thread < threads; ++thread) {
    if (domains.empty() || binding == WriterBinding::none || is_whole_node) {
      seats.push_back({.domain = own});
      continue;
    }
    const int domain = domains[static_cast<std::size_t>(thread - 1) % domains.size()];
    seats.push_back({domain, writers.free_on(domain, binding, number[domain]++)});
  }
  return seats;
}

std::vector<int> domains_of_threads(const topology::Node& node, std::span<const int> own,
                                    std::span<const WriterThread> threads) {
  std::set<int> numbers;
  const auto add = [&](int domain) {
    numbers.insert(node.numa_numbers.at(static_cast<std::size_t>(domain)));
  };
  std::ranges::for_each(own, add);
  std::ranges::for_each(threads, add, &WriterThread::domain);
  return {numbers.begin(), numbers.end()};
}

}  // namespace iocomp::placement
