// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commit/commit.h"
#include "contents/description.h"

namespace iocomp::commit {

/// The state on disk of a file that another process was publishing.
struct Published {
  bool has_temporary = false;
  bool has_target = false;

  // For a published file of all steps, from its manifest:
  std::int64_t steps = 0;
  std::vector<std::int64_t> absent;
  std::vector<contents::Placed> contents;
};

/// Make durable what an ended process may not have: names, and the last line of the manifest.
/// @throws Error{storage_failure}.
void make_published_durable(const TargetNames& names);

/// Find which of the names exist. @throws Error{storage_failure} if that cannot be known.
[[nodiscard]] Published look_at(const TargetNames& names);
/// The same, with the contents of the manifest of a published file.
/// @throws Error as parse_manifest.
[[nodiscard]] Published read_published(const TargetNames& names);

}  // namespace iocomp::commit
