// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/error.h"
#include "plan.h"

namespace simulation {

/// The excuses that the faults and mistakes of a plan give. All exceptions from what the library
/// promises stand here.

/// True if a call of a rank may fail so.
/// @param can_go_on  the ranks live on when a server is lost.
[[nodiscard]] bool may_fail(const Plan& plan, iocomp::ErrorCode code, bool can_go_on);

/// True if ranks may be told that a step failed which is committed.
[[nodiscard]] bool is_in_doubt(const Plan& plan, const PlannedFile& file);

/// True if close tells a rank of each step that failed. A story of the file as a whole may name
/// the first step alone.
[[nodiscard]] bool tells_each_step(const Plan& plan, const PlannedFile& file);

/// The most that a rank may copy at once: its bound, and what it copies beyond that because it
/// would wait for ever otherwise.
[[nodiscard]] std::size_t most_copied_bytes(const Plan& plan, int rank);

/// True if a rank may be told so when it waits for a ticket to be durable: ranks of other nodes
/// have written a part of its block, and the step is made durable by all.
[[nodiscard]] bool is_durable_with_step(const Plan& plan, const PlannedFile& file,
                                        const iocomp::Error& error);

}  // namespace simulation
