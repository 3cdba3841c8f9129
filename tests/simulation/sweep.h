// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "plan.h"

namespace simulation {

/// One small job in every mode and kind of file, again and again: each of its fsyncs fails once,
/// each of its writes fails, or the disk is full at any byte. @return violations.
int sweep(const std::function<void(const std::string&)>& tell);

}  // namespace simulation
