// SPDX-License-Identifier: BSD-3-Clause
#include "commit/earlier_steps.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/folder_targets.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/read_manifest.h"

namespace iocomp::commit {
namespace {

// Nothing if there is none, or if it is torn. One that cannot be read for a moment may be whole.
std::optional<Manifest> manifest_of(const TargetNames& names) {
  std::optional<Manifest> manifest;
  if (const auto text = manifest_in_force(names.manifest)) {
    (void)outcome_of([&] { manifest = parse_manifest(*text, names.manifest.text()); });
  }
  return manifest;
}

// The numbers of all files that are called like steps, ascending.
std::vector<std::int64_t> numbers_in_names(const Path& path) {
  std::vector<std::int64_t> numbers;
  for (const auto& name : path.folder().names()) {
    if (const auto step = step_in_name(name, path.name())) {
      numbers.push_back(*step);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

std::vector<std::int64_t> still_there(const Superseded& superseded, const Path& path) {
  std::vector<std::int64_t> there;
  for (const auto& [step, identity] : superseded) {
    if (identity_of(target_names(path, step, {}).target) == identity) {
      there.push_back(step);
    }
  }
  return there;
}

std::vector<std::int64_t> steps_in_names(const Path& path) {
  auto numbers = numbers_in_names(path);
  std::erase_if(numbers, [&path](std::int64_t number) {
    return is_another_file(target_names(path, number, {}), number);
  });
  return numbers;
}

bool is_another_file(const TargetNames& names, std::int64_t number) {
  const auto manifest = manifest_of(names);
  return manifest && !is_step_of_set(*manifest, number);
}

EarlierSteps earlier_steps(const Path& path) {
  EarlierSteps earlier;
  for (const auto number : numbers_in_names(path)) {
    const auto manifest = manifest_of(target_names(path, number, {}));
    if (manifest && is_step_of_set(*manifest, number)) {
      earlier.numbers.push_back(number);
      std::ranges::copy(still_there(manifest->supersedes, path),
                        std::back_inserter(earlier.superseded));
    }
  }
  std::erase_if(earlier.numbers, [&earlier](std::int64_t number) {
    return std::ranges::find(earlier.superseded, number) != earlier.superseded.end();
  });
  return earlier;
}

bool is_whole(const TargetNames& names) {
  const auto text = manifest_in_force(names.manifest);
  if (!text || !names.target.is_there()) {
    return false;
  }
  return outcome_of(
             [&] { check_whole(names.target, parse_manifest(*text, names.manifest.text())); })
      .ok();
}

}  // namespace iocomp::commit
