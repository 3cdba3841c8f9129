// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/path.h"
#include "commit/commit.h"
#include "formats/format.h"

namespace iocomp::commit {

/// What is kept of a file of all steps, by a job that goes on with it.
struct KeptFile {
  ManifestHead head;                ///< steps, absent and bytes alone
  ToldSteps told;                   ///< the steps
  std::set<std::string> variables;  ///< that these steps have
  // As in contents::Beginning:
  std::map<std::int64_t, std::int64_t> numbers;
  std::int64_t header_bytes = 0;
  std::int64_t header_room = 0;
  std::vector<std::int64_t> newest;  ///< numbers of the last two, ascending
  std::int64_t next_number = 0;      ///< of the step that comes next
  std::vector<std::int64_t> lost;    ///< numbers of steps behind `after`, ascending
  bool is_shortened = false;         ///< by these, or by steps that failed: the manifest tells more
};
/// @param after  a number of a step: what lies behind it is lost.
/// @throws Error{storage_failure} where its manifest cannot be read, or the file is shorter than
/// that says; Error{target_exists} for one of another format; Error{unsupported} where the format
/// cannot go on with it.
[[nodiscard]] KeptFile kept_of(const TargetNames& names, const formats::Format& format,
                               std::int64_t after);

/// Bytes behind this one are gone. Durable.
/// @throws Error{storage_failure}.
void cut(const Path& path, std::int64_t bytes);

}  // namespace iocomp::commit
