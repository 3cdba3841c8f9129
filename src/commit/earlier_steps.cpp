// SPDX-License-Identifier: BSD-3-Clause
#include "commit/earlier_steps.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/folder_targets.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/read_manifest.h"

namespace iocomp::commit {
namespace {

std::optional<Manifest> manifest_of(const TargetNames& names) {
  std::optional<Manifest> manifest;
  (void)outcome_of([&] {
    if (const auto text = manifest_in_force(names.manifest)) {
      manifest = parse_manifest(*text, names.manifest);
    }
  });
  return manifest;
}

}  // namespace

std::vector<std::int64_t> still_there(const Superseded& superseded, const std::string& path) {
  std::vector<std::int64_t> there;
  for (const auto& [step, identity] : superseded) {
    if (identity_of(target_names(path, step, {}).target) == identity) {
      there.push_back(step);
    }
  }
  return there;
}

std::vector<std::int64_t> steps_in_names(const std::string& path) {
  std::vector<std::int64_t> numbers;
  const std::string plain = name_in_folder(path);
  for (const auto& name : names_in_existing(folder_of(path))) {
    if (const auto step = step_in_name(name, plain)) {
      numbers.push_back(*step);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

EarlierSteps earlier_steps(const std::string& path) {
  EarlierSteps earlier{.numbers = steps_in_names(path), .superseded = {}};
  for (const auto number : earlier.numbers) {
    const auto names = target_names(path, number, {});
    const auto text = read_file(names.manifest);
    if (text && text->find("\"supersedes\"") != std::string::npos) {
      if (const auto manifest = manifest_of(names)) {
        std::ranges::copy(still_there(manifest->supersedes, path),
                          std::back_inserter(earlier.superseded));
      }
    }
  }
  std::erase_if(earlier.numbers, [&earlier](std::int64_t number) {
    return std::ranges::find(earlier.superseded, number) != earlier.superseded.end();
  });
  return earlier;
}

bool is_whole(const TargetNames& names) {
  const OpenFolder folder{names.target};
  const auto text = in_force(folder.read(name_in_folder(names.manifest)), names.manifest);
  if (!text || !folder.has(name_in_folder(names.target))) {
    return false;
  }
  std::optional<Manifest> manifest;
  (void)outcome_of([&] { manifest = parse_manifest(*text, names.manifest); });
  return manifest && size_of_target(names.target) >= manifest->bytes;
}

}  // namespace iocomp::commit
