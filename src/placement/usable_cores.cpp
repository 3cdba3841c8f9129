// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "placement/mapping.h"
#include "placement/node_cpus.h"
#include "topology/node.h"

namespace iocomp::placement {
namespace {

int domain_of(const UsableCores::Core& core, Mapping mapping) {
  switch (mapping) {
    case Mapping::l3:
      return core.l3;
    case Mapping::numa:
      return core.numa;
    default:
      return 0;
  }
}

}  // namespace

UsableCores::UsableCores(const topology::Node& node) {
  for (const auto& core : node.cores) {
    Core usable{.package = core.package, .numa = core.numa, .l3 = core.l3, .cpus = {}};
    for (const auto& thread : core.threads) {
      if (thread.allowed) {
        usable.cpus.push_back(thread.cpu);
      }
    }
    if (!usable.cpus.empty()) {
      threads_ += static_cast<int>(usable.cpus.size());
      smt_cores_ += usable.cpus.size() > 1 ? 1 : 0;
      cores_.push_back(std::move(usable));
    }
  }
}

std::vector<std::vector<std::size_t>> UsableCores::domains(Mapping mapping) const {
  std::map<int, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    found[domain_of(cores_[i], mapping)].push_back(i);
  }
  std::vector<std::vector<std::size_t>> domains;
  domains.reserve(found.size());
  for (auto& [number, cores] : found) {
    domains.push_back(std::move(cores));
  }
  return domains;
}

int UsableCores::distance(std::size_t left, std::size_t right) const {
  const auto& a = cores_[left];
  const auto& b = cores_[right];
  if (a.l3 >= 0 && a.l3 == b.l3) {
    return 0;
  }
  if (a.numa == b.numa) {
    return 1;
  }
  return a.package == b.package ? 2 : 3;
}

bool fits(Mapping mapping, const UsableCores& cores, const Population& population) {
  switch (mapping) {
    case Mapping::sequential:
    case Mapping::oversubscribe:
      return population.compute <= cores.thread_count() && population.servers <= population.compute;
    case Mapping::hyperthread:
      return population.compute <= cores.core_count() &&
             population.servers <= cores.smt_core_count();
    default:
      return population.compute + population.servers <= cores.core_count();
  }
}

}  // namespace iocomp::placement
