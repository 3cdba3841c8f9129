// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "plan.h"

namespace simulation {

/// One small job in every mode and kind of file, again and again: each of its fsyncs fails once,
/// each of its writes fails, or the disk is full at any byte.
/// @param one_in  only each such history is run.
/// @param run  is given each history, and its name.
void sweep(int one_in, const std::function<void(const Plan&, const std::string&)>& run);

}  // namespace simulation
