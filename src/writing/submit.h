// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "disk/engine.h"

namespace iocomp::writing {

/// Has a disk plan carried out. `done` is called at once or later, by the thread that submitted it.
/// From then on, the plan does not need its bytes.
using Submit =
    std::function<void(disk::Plan plan, std::function<void(const disk::Completion&)> done)>;

}  // namespace iocomp::writing
