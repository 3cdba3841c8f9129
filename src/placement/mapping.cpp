// SPDX-License-Identifier: BSD-3-Clause
#include "placement/mapping.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::placement {

const std::vector<std::string>& mapping_names() {
  static const std::vector<std::string> names{
      // in the order of the enumeration
      "sequential", "consecutive", "hyperthread", "oversubscribe", "l3", "numa", "node", "nodes"};
  return names;
}

const std::string& name_of(Mapping mapping) {
  return mapping_names().at(static_cast<std::size_t>(mapping));
}

Mapping mapping_named(const std::string& name) {
  const auto found = std::ranges::find(mapping_names(), name);
  if (found == mapping_names().end()) {
    std::string allowed;
    for (const auto& one : mapping_names()) {
      allowed += (allowed.empty() ? "" : ", ") + one;
    }
    throw Error{ErrorCode::invalid_argument,
                "there is no mapping \"" + name + "\": allowed are " + allowed};
  }
  return static_cast<Mapping>(found - mapping_names().begin());
}

}  // namespace iocomp::placement
