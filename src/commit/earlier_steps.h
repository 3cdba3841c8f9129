// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/path.h"
#include "commit/commit.h"

namespace iocomp::commit {

/// Numbers of the steps that have files of their own under one name: ascending, nothing is read.
/// @param path  of a file of all steps.
[[nodiscard]] std::vector<std::int64_t> steps_in_names(const Path& path);

/// Steps that lie in files of their own under one name, whoever wrote them.
struct EarlierSteps {
  std::vector<std::int64_t> numbers;     ///< ascending
  std::vector<std::int64_t> superseded;  ///< by these: about to be removed when a job ended
};
[[nodiscard]] EarlierSteps earlier_steps(const Path& path);

/// Those of them whose files are still there.
[[nodiscard]] std::vector<std::int64_t> still_there(const Superseded& superseded, const Path& path);

/// Whether a file is there, with a manifest, and as long as that says.
/// @throws Error{storage_failure} where that cannot be known.
[[nodiscard]] bool is_whole(const TargetNames& names);

}  // namespace iocomp::commit
