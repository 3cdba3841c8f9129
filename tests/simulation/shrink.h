// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "plan.h"

namespace simulation {

/// The smallest plan that `is_broken` still says of: files, steps, puts, ranks, waits and faults
/// are left out one after the other for as long as that changes nothing.
[[nodiscard]] Plan shrink(Plan plan, const std::function<bool(const Plan&)>& is_broken);

}  // namespace simulation
