// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "plan.h"

namespace simulation {

/// A plan as text, for people and to be read again: `ranks = 2`, `put { rank = 1 count = 3,4 }`.
/// What is as usual is left out, so a text means the same when plans get more fields.
[[nodiscard]] std::string as_text(const Plan& plan);

/// Lines that begin with `#` are left out.
/// @throws std::invalid_argument naming what cannot be read.
[[nodiscard]] Plan read_plan(std::string_view text);

}  // namespace simulation
