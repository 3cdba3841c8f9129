// SPDX-License-Identifier: BSD-3-Clause
#include "commit/published.h"

#include <utility>

#include "base/bug.h"
#include "base/folder_targets.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/read_manifest.h"

namespace iocomp::commit {

void make_published_durable(const TargetNames& names) {
  if (is_in_folder(names.manifest) && !has_bug(Bug::left_line_not_synced)) {
    make_durable(names.manifest);
  }
  sync_folder_of(names.target);
}

Published look_at(const TargetNames& names) {
  const OpenFolder folder{names.target};  // one that is gone for a moment is not empty
  Published found;
  found.has_temporary = folder.has(name_in_folder(names.temporary));
  found.has_target =
      folder.find(name_in_folder(names.target), OpenFolder::Links::followed).has_value();
  return found;
}

Published read_published(const TargetNames& names) {
  Published found = look_at(names);
  if (found.has_temporary || !found.has_target) {
    return found;
  }
  auto manifest = parse_manifest(read_file(names.manifest).value_or(""), names.manifest);
  found.steps = manifest.committed_steps;
  found.absent = std::move(manifest.absent);
  found.contents = std::move(manifest.inventory.contents);
  return found;
}

}  // namespace iocomp::commit
