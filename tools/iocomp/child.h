// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace iocomp::command {

/// Run a program until it ends, with these variables added to the environment. What asks this
/// process to end is passed on to it.
/// @return its exit status; 128 + the number of the signal that ended it.
/// @throws Error{unsupported} when it cannot be started.
[[nodiscard]] int run_child(const std::vector<std::string>& words,
                            const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace iocomp::command
