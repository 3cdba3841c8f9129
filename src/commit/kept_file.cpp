// SPDX-License-Identifier: BSD-3-Clause
#include "commit/kept_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "commit/commit.h"
#include "commit/read_manifest.h"
#include "contents/catalogue.h"
#include "contents/description.h"
#include "formats/format.h"

namespace iocomp::commit {
namespace {

void check_that_it_goes_on(const TargetNames& names, const Manifest& manifest,
                           const formats::Format& format) {
  const std::string cannot = "cannot continue " + names.target.text() + ": ";
  if (manifest.format != format.name()) {
    throw Error{ErrorCode::target_exists, cannot + "it is a file of " + manifest.format +
                                              ", the settings say " + std::string{format.name()}};
  }
  if (!format.traits().goes_on) {
    throw Error{ErrorCode::unsupported,
                cannot + "no job can go on with a series of " + std::string{format.name()} +
                    " with these settings; with kind = \"file_per_step\" any job can"};
  }
  check_size(names.target, manifest.bytes, "continue");
}

}  // namespace

KeptFile kept_of(const TargetNames& names, const formats::Format& format, std::int64_t after) {
  // Its manifest and its lock lie beside the file itself.
  if (const auto found = names.target.folder().find(names.target.name());
      found && S_ISLNK(found->st_mode)) {
    const auto end = names.target.folder().end_of_link(names.target.name());
    throw Error{ErrorCode::target_exists,
                "cannot continue " + names.target.text() + ": it is a link, which leads " +
                    (end.empty() ? "nowhere" : "to " + end + "; give that path")};
  }
  const auto text = manifest_in_force(names.manifest);
  if (!text) {
    throw Error{ErrorCode::storage_failure, "cannot continue " + names.target.text() +
                                                ": there is no " + names.manifest.text() +
                                                ", which says what it has"};
  }
  auto manifest = parse_manifest(*text, names.manifest.text());
  check_that_it_goes_on(names, manifest, format);
  auto& inventory = manifest.inventory;
  KeptFile kept;
  kept.head.steps = manifest.committed_steps;
  kept.head.bytes = names.folder_mark.empty() ? manifest.bytes : 0;  // what was told late may go
  const auto stays = [&](std::int64_t step) {  // failed steps behind all others leave their numbers
    return inventory.name_of(step).number <= after &&
           std::ranges::find(manifest.absent, step) == manifest.absent.end();
  };
  while (kept.head.steps > 0 && !stays(kept.head.steps - 1)) {
    --kept.head.steps;
  }
  const auto is_lost = [&kept](std::int64_t step) { return step >= kept.head.steps; };
  for (const auto step : inventory.steps) {
    auto& numbers = is_lost(step) ? kept.lost : kept.newest;
    numbers.push_back(inventory.name_of(step).number);
  }
  if (constexpr std::ptrdiff_t few = 2; std::ssize(kept.newest) > few) {
    kept.newest.erase(kept.newest.begin(), kept.newest.end() - few);
  }
  if (kept.head.steps > 0) {
    kept.next_number = inventory.name_of(kept.head.steps - 1).number + 1;
  }
  std::ranges::remove_copy_if(manifest.absent, std::back_inserter(kept.head.absent), is_lost);
  kept.is_shortened = kept.head.steps < manifest.committed_steps;
  if (kept.is_shortened) {
    std::erase_if(inventory.contents, [&](const auto& placed) { return is_lost(placed.step); });
    std::erase_if(inventory.names, [&](const auto& name) { return is_lost(name.first); });
    kept.head.bytes = contents::end_of(inventory.contents);
  }
  for (const auto& placed : inventory.contents) {
    if (kept.variables.insert(placed.variable.name).second) {
      kept.header_bytes += contents::bytes_in_header(placed.variable);
    }
    if (placed.offset >= 0 && (kept.header_room == 0 || placed.offset < kept.header_room)) {
      kept.header_room = placed.offset;
    }
    kept.numbers.emplace(placed.step, placed.number_of_step());
  }
  if (std::ranges::all_of(kept.numbers, [](const auto& one) { return one.first == one.second; })) {
    kept.numbers.clear();
  }
  contents::Description description;
  description.contents = std::move(inventory.contents);
  description.names = std::move(inventory.names);
  tell(kept.told, description);
  kept.told.variables.clear();  // variables have other ids now
  kept.told.attributes = std::move(inventory.attributes);
  kept.told.of_variable = std::move(inventory.of_variable);
  return kept;
}

void cut(const Path& path, std::int64_t bytes) {
  const Descriptor file = path.folder().open(path.name(), O_WRONLY);
  set_length(file, bytes, path.text());
  make_durable(file, path.text());
}

}  // namespace iocomp::commit
