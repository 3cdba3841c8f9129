#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "commit/commit.h"

namespace iocomp::commit {

/// What lies on disk of a file that another process was publishing.
struct Published {
  bool has_temporary = false;
  bool has_target = false;

  // Of a published file of all steps, as its manifest tells:
  std::int64_t steps = 0;
  std::vector<std::int64_t> absent;
  std::vector<std::pair<std::int64_t, std::string>> variables;  ///< step, name
};

[[nodiscard]] Published look_at(const TargetNames& names);
/// The same, and what the manifest of a published file tells.
/// @throws Error as parse_manifest.
[[nodiscard]] Published read_published(const TargetNames& names);

}  // namespace iocomp::commit
