// SPDX-License-Identifier: BSD-3-Clause
#include "placement/writer_seats.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "placement/node_cpus.h"
#include "topology/node.h"

namespace iocomp::placement {
namespace {

/// The place of a hardware thread in the order of its domain.
struct WriterSeat {
  std::size_t sibling;  ///< of its core
  std::size_t turn;     ///< of its core in the L3 group
  int l3;
  int cpu;
};

}  // namespace

std::vector<std::vector<int>> writer_seats(const topology::Node& node) {
  std::vector<std::vector<WriterSeat>> found(static_cast<std::size_t>(node.numa_domains));
  std::map<std::pair<int, int>, std::size_t> cores_in;  // by domain and L3 group
  const UsableCores usable{node};
  for (const auto& core : usable.cores()) {
    const std::size_t turn = cores_in[{core.numa, core.l3}]++;
    for (std::size_t sibling = 0; sibling < core.cpus.size(); ++sibling) {
      found.at(static_cast<std::size_t>(core.numa))
          .push_back({sibling, turn, core.l3, core.cpus[sibling]});
    }
  }
  std::vector<std::vector<int>> cpus;
  cpus.reserve(found.size());
  for (auto& seats : found) {
    std::ranges::sort(seats, {}, [](const WriterSeat& seat) {
      return std::tuple{seat.sibling, seat.turn, seat.l3, seat.cpu};
    });
    auto& ordered = cpus.emplace_back();
    for (const auto& seat : seats) {
      ordered.push_back(seat.cpu);
    }
  }
  return cpus;
}

}  // namespace iocomp::placement
