// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "topology/binding.h"

namespace iocomp::command {

struct BoundJob {
  int cpu = 0;
  std::function<void()> work;
};

/// Run each job by a thread of its own that is bound to its CPU, all at the same time.
/// @return seconds from when the first began to work until the last was done.
/// @throws what the first job that failed has thrown; Error{unsupported} for a thread that the
/// system lets run elsewhere.
[[nodiscard]] double run_bound(const topology::ThreadBinder& binder,
                               std::span<const BoundJob> jobs);

}  // namespace iocomp::command
