// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "iocomp/numa/results.h"

namespace iocomp::command {

/// The tables as an SVG document. A cell is the darker, the nearer it comes to the highest rate of
/// its operation. Cells that were misplaced in all rounds are red; impossible ones are empty.
[[nodiscard]] std::string heat_map_of(const NumaResults& results);

}  // namespace iocomp::command
