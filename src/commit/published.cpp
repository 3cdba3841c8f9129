// SPDX-License-Identifier: BSD-3-Clause
#include "commit/published.h"

#include <utility>

#include "base/bug.h"
#include "base/folder_targets.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/read_manifest.h"

namespace iocomp::commit {

void make_published_durable(const TargetNames& names) {
  if (names.manifest.is_there() && !has_bug(Bug::left_line_not_synced)) {
    make_durable(names.manifest);
  }
  names.target.folder().sync();
}

Published look_at(const TargetNames& names) {
  Published found;
  found.has_temporary = names.temporary.is_there();
  found.has_target =
      names.target.folder().find(names.target.name(), OpenFolder::Links::followed).has_value();
  return found;
}

Published read_published(const TargetNames& names) {
  Published found = look_at(names);
  if (found.has_temporary || !found.has_target) {
    return found;
  }
  auto manifest = parse_manifest(read_file(names.manifest).value_or(""), names.manifest.text());
  found.steps = manifest.committed_steps;
  found.absent = std::move(manifest.absent);
  found.contents = std::move(manifest.inventory.contents);
  return found;
}

}  // namespace iocomp::commit
