// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace iocomp::placement {

/// Share `ranks` out among nodes as evenly as their room allows; earlier nodes get the odd ones.
/// @pre ranks <= sum of room
[[nodiscard]] std::vector<int> even_shares(int ranks, const std::vector<int>& room);

}  // namespace iocomp::placement
