// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commit/commit.h"
#include "contents/description.h"

namespace iocomp::commit {

/// What lies on disk of a file that another process was publishing.
struct Published {
  bool has_temporary = false;
  bool has_target = false;

  // Of a published file of all steps, as its manifest tells:
  std::int64_t steps = 0;
  std::vector<std::int64_t> absent;
  std::vector<contents::Placed> contents;
};

/// Make durable what a process that is gone may have left without: names, and the last line of the
/// manifest. @throws Error{storage_failure}.
void make_published_durable(const TargetNames& names);

/// @throws Error{storage_failure} where that cannot be known.
[[nodiscard]] Published look_at(const TargetNames& names);
/// The same, and what the manifest of a published file tells.
/// @throws Error as parse_manifest.
[[nodiscard]] Published read_published(const TargetNames& names);

}  // namespace iocomp::commit
