// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace simulation {

/// In a build with mutants (docs/developers/mutation.md): tell, in a line of this file, which of
/// them a history has reached since this was called last. Elsewhere nothing.
void tell_reached(const std::string& path, const std::string& history);

}  // namespace simulation
