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

/// The part of a file of all steps that stays when a job continues the file.
struct KeptFile {
  ManifestHead head;                ///< only steps, absent and bytes are set
  ToldSteps told;                   ///< the steps that stay
  std::set<std::string> variables;  ///< names of the variables in these steps
  // As in contents::Beginning:
  std::map<std::int64_t, std::int64_t> numbers;
  std::int64_t header_bytes = 0;
  std::int64_t header_room = 0;
  std::vector<std::int64_t> newest;  ///< numbers of the last two steps, ascending
  std::int64_t next_number = 0;      ///< number of the next step
  std::vector<std::int64_t> lost;    ///< numbers of the steps behind `after`, ascending
  bool is_shortened = false;         ///< true if the manifest tells more steps than stay
};
/// Find what stays of a file.
/// @param after  the number of a step: later steps are lost.
/// @throws Error{storage_failure} if its manifest cannot be read, or the file is shorter than the
/// manifest says; Error{target_exists} if the file has another format; Error{unsupported} if the
/// format cannot continue it.
[[nodiscard]] KeptFile kept_of(const TargetNames& names, const formats::Format& format,
                               std::int64_t after);

/// Cut the file to this many bytes. Durable.
/// @throws Error{storage_failure}.
void cut(const Path& path, std::int64_t bytes);

}  // namespace iocomp::commit
