// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topology/node.h"

namespace iocomp::placement {

/// The allowed CPUs of each NUMA domain in the order in which writer threads take them. One
/// in each L3 group in turn, and all cores before any core gets a second thread. Empty for domains
/// without an allowed CPU.
[[nodiscard]] std::vector<std::vector<int>> writer_seats(const topology::Node& node);

}  // namespace iocomp::placement
