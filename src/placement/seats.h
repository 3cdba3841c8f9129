// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/mapping.h"
#include "topology/node.h"

namespace iocomp::placement {

/// The closeness of a server to its compute rank.
enum class Closeness {
  same_thread,  ///< both on one hardware thread
  sibling,      ///< on two hardware threads of one core
  shared_core,  ///< both may use all threads of one core
  same_l3,      ///< on cores of their own that share an L3 cache
  same_numa,    ///< on cores of their own in one NUMA domain
  same_node,    ///< on cores of their own, farther apart
  other_node,
  unbound,  ///< both may run on the same cores, more than one: nobody knows who disturbs whom
};
inline constexpr std::size_t closeness_count = 8;

/// The number of pairs of a job by closeness; indexed by Closeness.
using Pairs = std::array<std::int64_t, closeness_count>;

/// @param left, right  the CPUs (as the operating system numbers them) that two ranks of this node
/// may run on.
[[nodiscard]] Closeness closeness(const topology::Node& node, const std::vector<int>& left,
                                  const std::vector<int>& right);
/// "on one core", ...
[[nodiscard]] const char* text(Closeness closeness) noexcept;

/// "8 of 8 on SMT siblings", or all kinds of pairs with their numbers.
[[nodiscard]] std::string text(const Pairs& pairs);

/// The number of compute ranks of a node that share a core with a server that is not theirs. Ranks
/// that are not bound to one core do not count.
/// @param cpus       by rank of the node.
/// @param server_of  by rank of the node: the index of its server, its own index if it serves; -1
/// where its server is on another node, or there is none.
[[nodiscard]] std::int64_t strangers(const topology::Node& node,
                                     const std::vector<std::vector<int>>& cpus,
                                     const std::vector<int>& server_of);

/// The name of the mapping that these pairs make; "mixed" where they differ, "unbound" where the
/// ranks are not bound to cores.
[[nodiscard]] std::string found_mapping(const Pairs& pairs);

/// True if these pairs are as a mapping promises.
[[nodiscard]] bool agrees(Mapping asked, const Pairs& pairs);

/// Chooses the servers on a node whose ranks have been bound already. Neighbours (same core before
/// same L3 before same NUMA domain) are grouped. In every group the rank on the highest hardware
/// thread serves the others.
/// @param cpus     by rank of the node: the CPUs it may run on.
/// @param servers  how many shall serve; at least 1, at most half of the ranks.
/// @return by rank of the node: its server, itself for servers. Nothing when a rank is not bound
/// to one core.
[[nodiscard]] std::optional<std::vector<int>> servers_by_seats(
    const topology::Node& node, const std::vector<std::vector<int>>& cpus, int servers);

}  // namespace iocomp::placement
