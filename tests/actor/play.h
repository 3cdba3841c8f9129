// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace actor {

/// Carry out a script on this rank, in the working directory, with a session of its own. Every rank
/// writes a journal into `journals`. Collective over the world.
/// @throws std::runtime_error when the script cannot be read or makes no sense.
void play(const std::string& script, const std::string& journals);

}  // namespace actor
