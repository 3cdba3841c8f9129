// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/path.h"
#include "commit/commit.h"

namespace iocomp::commit {

/// The numbers of the steps that have files of their own under one name, ascending. Files without a
/// manifest that can be read count too.
/// @param path  of a file of all steps.
[[nodiscard]] std::vector<std::int64_t> steps_in_names(const Path& path);

/// True if another file has the name of this step, as its manifest says.
[[nodiscard]] bool is_another_file(const TargetNames& names, std::int64_t number);

/// Steps that lie in files of their own under one name, of whatever job, as their manifests say.
/// Files that iocomp has not written may be called so.
struct EarlierSteps {
  std::vector<std::int64_t> numbers;  ///< ascending
  /// Replaced by these; their job ended before it removed them.
  std::vector<std::int64_t> superseded;
};
[[nodiscard]] EarlierSteps earlier_steps(const Path& path);

/// The superseded steps whose files are still there.
[[nodiscard]] std::vector<std::int64_t> still_there(const Superseded& superseded, const Path& path);

/// True if a file is there with its manifest, and is whole (see check_whole).
/// @throws Error{storage_failure} if that cannot be known.
[[nodiscard]] bool is_whole(const TargetNames& names);

}  // namespace iocomp::commit
