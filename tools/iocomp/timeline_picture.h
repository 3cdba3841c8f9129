// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "trace/merged.h"

namespace iocomp::command {

/// An SVG of who did what when: a band for each process, in it a line for each row of events.
[[nodiscard]] std::string picture_of(const trace::Merged& merged);

}  // namespace iocomp::command
