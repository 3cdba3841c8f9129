// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "iocomp/output.h"

namespace iocomp::command {

/// The depth of the look: if manifests are not read, an Output has names and sizes only.
enum class Depth { names, manifests };

/// All that iocomp has written into a folder; or what a path names: a file, a set by the name that
/// its files have without their steps, or one file of a set. A file without a manifest is one too.
/// @throws Error{not_found} naming the nearest.
[[nodiscard]] std::vector<Output> outputs_at(const std::string& path,
                                             Depth depth = Depth::manifests);
/// The one that is there. @throws Error{invalid_argument} where a folder has others too.
[[nodiscard]] Output output_at(const std::string& path, Depth depth = Depth::manifests);

}  // namespace iocomp::command
