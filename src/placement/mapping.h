// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace iocomp::placement {

/// The arrangement of compute ranks and servers on cores. The first four are those of Bhardwaj,
/// Bartholomew, Parsons, CUG 2023.
enum class Mapping {
  sequential,     ///< no servers
  consecutive,    ///< servers on cores of their own, beside the compute ranks
  hyperthread,    ///< server on the SMT sibling of its (first) compute rank
  oversubscribe,  ///< server on the hardware thread of its (first) compute rank
  l3,             ///< a server in every L3 group, with compute ranks of the same group
  numa,           ///< the same with NUMA domains
  node,           ///< k servers on every node, each beside its compute ranks
  nodes,          ///< every m-th node serves
};

[[nodiscard]] const std::vector<std::string>& mapping_names();
[[nodiscard]] const std::string& name_of(Mapping mapping);
/// @throws Error{invalid_argument} naming the mappings.
[[nodiscard]] Mapping mapping_named(const std::string& name);

}  // namespace iocomp::placement
