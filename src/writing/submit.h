// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "disk/engine.h"

namespace iocomp::writing {

/// Has a disk plan carried out, whoever does that: `done` is called at once or later, by the thread
/// that submitted it. Then the plan's bytes may go.
using Submit =
    std::function<void(disk::Plan plan, std::function<void(const disk::Completion&)> done)>;

}  // namespace iocomp::writing
