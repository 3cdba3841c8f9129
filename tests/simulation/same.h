// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "history.h"
#include "plan.h"

namespace simulation {

/// Run what the programs of a plan do, mistakes included, in every mode, with every number of
/// servers and without faults from outside. What must not depend on the way: the steps that are
/// committed, what becomes of each put, the first error of each rank in each file, and what the
/// files hold.
[[nodiscard]] Result run_in_all_ways(const Plan& plan,
                                     const std::function<void(const std::string&)>& log = {});

}  // namespace simulation
