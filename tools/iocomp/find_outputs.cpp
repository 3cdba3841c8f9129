// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/find_outputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/folder_targets.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/owner.h"
#include "commit/read_manifest.h"
#include "formats/sources.h"
#include "iocomp/output.h"
#include "reading/find_committed.h"

namespace iocomp::command {
namespace {

constexpr std::string_view manifest_ending = ".json";

bool is_there(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_folder(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// One physical file, as its manifest describes it.
struct FoundFile {
  std::string name;
  std::optional<commit::Manifest> manifest;
  Output::Fault fault = Output::Fault::none;
  std::string story;
};

FoundFile without_manifest(const std::string& name) {
  return {name, {}, Output::Fault::no_manifest, "there is no " + name + ".json"};
}

// The files of one plain name in a folder.
struct Group {
  std::optional<FoundFile> one;
  std::map<std::int64_t, FoundFile> of_step;
  std::vector<std::string> temporaries;
  bool has_lock = false;
};
using Groups = std::map<std::string, Group>;

// A filter for names in a folder: all, or those that a name given by the user means.
class Wanted {
 public:
  explicit Wanted(std::string name) : name_{std::move(name)} {
    const auto of_step = commit::name_of_step(name_);
    plain_ = of_step ? of_step->plain : name_;
  }
  [[nodiscard]] bool is(const std::string& name) const { return name == name_; }
  [[nodiscard]] bool file(const std::string& name) const {
    if (name_.empty() || name == name_) {
      return true;
    }
    const auto of_step = commit::name_of_step(name);
    return of_step && of_step->plain == name_;
  }
  // The lock of a set is that of each of its files.
  [[nodiscard]] bool lock(const std::string& plain) const {
    return name_.empty() || plain == name_ || plain == plain_;
  }

 private:
  std::string name_;
  std::string plain_;
};

// A text beside a file that is called like its manifest, and is no JSON, can only be a torn one.
bool is_manifest(const std::string& path, bool has_file) {
  std::string text;
  const Outcome read = outcome_of([&] { text = read_file(path).value_or(""); });
  if (!read.ok()) {
    return has_file;  // then it is told why
  }
  return text.find("\"iocomp_manifest\"") != std::string::npos || (has_file && !Json::accept(text));
}

FoundFile part_of(const std::string& folder, const std::string& name, Depth depth) {
  const std::string path = folder + name;
  if (depth == Depth::names) {
    return {name, {}, Output::Fault::none, {}};
  }
  FoundFile part = without_manifest(name);
  Outcome outcome = outcome_of([&] {
    if (const auto text = commit::manifest_in_force(Path{path + std::string{manifest_ending}})) {
      part.manifest = commit::parse_manifest(*text, path + std::string{manifest_ending});
      part.fault = Output::Fault::none;
      part.story.clear();
    }
  });
  if (!outcome.ok()) {
    part.fault = outcome.code == ErrorCode::unsupported ? Output::Fault::strange_manifest
                                                        : Output::Fault::torn_manifest;
    part.story = outcome.story;
  } else if (part.manifest) {
    outcome = outcome_of([&] { commit::check_whole(Path{path}, *part.manifest); });
    part.fault = outcome.ok() ? Output::Fault::none : Output::Fault::torn_file;
    part.story = outcome.story;
  }
  return part;
}

void put_in_group(Groups& groups, FoundFile part) {
  const auto of_step = commit::name_of_step(part.name);
  if (of_step && (!part.manifest || commit::is_step_of_set(*part.manifest, of_step->step))) {
    groups[of_step->plain].of_step.try_emplace(of_step->step, std::move(part));
  } else {
    const std::string name = part.name;
    groups[name].one = std::move(part);
  }
}

// Files that only others show to be iocomp's: the rest of a set, and what a job is about to
// replace.
void add_undescribed(Groups& groups, const std::vector<std::string>& names, const Wanted& wanted) {
  for (const auto& name : names) {
    const auto itself = groups.find(name);
    if (itself != groups.end() && !itself->second.one && itself->second.of_step.empty()) {
      itself->second.one = without_manifest(name);
    }
    const auto of_step = commit::name_of_step(name);
    if (!of_step || !wanted.file(name) || groups.contains(name)) {
      continue;
    }
    const auto set = groups.find(of_step->plain);
    if (wanted.is(of_step->plain) || (set != groups.end() && !set->second.of_step.empty())) {
      groups[of_step->plain].of_step.try_emplace(of_step->step, without_manifest(name));
    }
  }
}

Groups groups_in(const std::string& folder, const Wanted& wanted, Depth depth) {
  auto names = names_in(folder);
  std::ranges::sort(names);
  Groups groups;
  for (const auto& name : names) {
    const std::string locked = commit::is_lock_of(name);
    const std::string begun = commit::belongs_to(name);
    if (!locked.empty()) {
      if (wanted.lock(locked)) {
        groups[locked].has_lock = true;
      }
    } else if (!begun.empty()) {
      if (wanted.file(begun)) {
        const auto of_step = commit::name_of_step(begun);
        groups[of_step ? of_step->plain : begun].temporaries.push_back(folder + name);
      }
    } else if (name.ends_with(manifest_ending)) {
      const std::string of = name.substr(0, name.size() - manifest_ending.size());
      if (wanted.file(of) && is_manifest(folder + name, std::ranges::binary_search(names, of))) {
        put_in_group(groups, part_of(folder, of, depth));
      }
    }
  }
  add_undescribed(groups, names, wanted);
  return groups;
}

void add(Output& output, const std::string& folder, FoundFile part, std::int64_t step) {
  const std::string path = folder + part.name;
  const auto size = size_if_there(Path{path});
  // A job removes a checkpoint before its manifest, and writes the manifest of a new one first.
  if (!size && output.holder.state == commit::Holder::State::alive) {
    return;
  }
  if (part.manifest) {
    output.name = part.manifest->name;
    output.format = part.manifest->format;
    output.kind = part.manifest->kind;
  }
  if (part.manifest && part.fault == Output::Fault::none) {
    const auto& inventory = part.manifest->inventory;
    std::ranges::transform(inventory.steps, std::back_inserter(output.steps),
                           [&](std::int64_t one) { return inventory.name_of(one).number; });
  }
  output.bytes += size.value_or(0);
  output.files.push_back(
      {path, step, part.fault, std::move(part.story), part.manifest ? part.manifest->bytes : 0});
}

std::vector<Output> outputs_of(const std::string& folder, const std::string& plain, Group group) {
  // A job may have begun while the names were listed: its lock, though older, is not among them.
  const bool may_have_lock = group.has_lock || !group.temporaries.empty();
  const commit::Holder holder =
      may_have_lock ? commit::holder_of(Path{folder + plain}) : commit::Holder{};
  std::vector<Output> outputs;
  const auto begin = [&](bool is_set) -> Output& {
    outputs.push_back({.path = folder + plain, .is_set = is_set});
    outputs.back().owned_as = folder + plain;
    outputs.back().holder = holder;
    return outputs.back();
  };
  const auto is_of_step = [](const std::string& temporary) {
    return commit::name_of_step(commit::belongs_to(name_in_folder(temporary))).has_value();
  };
  if (group.one) {
    add(begin(false), folder, std::move(*group.one), -1);
  }
  if (!group.of_step.empty() ||
      (!group.one && std::ranges::any_of(group.temporaries, is_of_step))) {
    Output& set = begin(true);
    for (auto& [step, part] : group.of_step) {
      add(set, folder, std::move(part), step);
    }
  }
  if (outputs.empty()) {
    begin(false);
  }
  for (auto& temporary : group.temporaries) {
    outputs[is_of_step(temporary) ? outputs.size() - 1 : 0].temporaries.push_back(
        std::move(temporary));
  }
  return outputs;
}

// True if a job has closed the file after its names were listed: they are others now.
bool has_ended_since(const Output& output, bool had_lock) {
  using State = commit::Holder::State;
  return output.holder.state != State::alive &&
         ((had_lock && output.holder.state == State::nobody) ||
          !std::ranges::all_of(output.temporaries, is_there));
}

// @param folder  with its slash, or nothing.
// @param name    empty: all that is there.
std::vector<Output> look(const std::string& folder, const std::string& name, Depth depth) {
  constexpr int most_looks = 10;
  std::vector<Output> all;
  for (int looks = 0; looks < most_looks; ++looks) {
    bool is_old = false;
    all.clear();
    for (auto& [plain, group] : groups_in(folder, Wanted{name}, depth)) {
      const bool has_lock = group.has_lock;
      auto found = outputs_of(folder, plain, std::move(group));
      is_old = is_old || std::ranges::any_of(found, [&](const Output& output) {
                 return has_ended_since(output, has_lock);
               });
      std::ranges::move(found, std::back_inserter(all));
    }
    if (!is_old) {
      break;
    }
  }
  return all;
}

// One file of a set, for itself. Nothing where the path names none.
std::optional<Output> one_of(const std::vector<Output>& found, const std::string& path) {
  for (const auto& output : found) {
    const auto file = std::ranges::find(output.files, path, &Output::File::path);
    if (output.path != path && file != output.files.end()) {
      Output alone = output;
      alone.path = path;
      alone.is_set = false;
      alone.files = {*file};
      return alone;
    }
  }
  return std::nullopt;
}

Error none_at(const std::string& path) {
  const std::string folder = folder_of(path);
  if (!folder.empty() && !is_folder(folder)) {
    return none_at(folder);
  }
  std::vector<std::string> others;
  const std::string prefix = path.substr(0, path.size() - name_in_folder(path).size());
  for (const auto& output : look(prefix, {}, Depth::names)) {
    others.push_back(output.path);
  }
  for (const auto& name : names_in(folder)) {
    if (is_folder(prefix + name) && !name.starts_with('.')) {
      others.push_back(prefix + name);
    }
  }
  return Error{ErrorCode::not_found, "there is no " + path + did_you_mean(path, others)};
}

// With the lock of a set that it may be of.
Output undescribed(const std::string& path) {
  const std::string name = name_in_folder(path);
  const auto of_step = commit::name_of_step(name);
  Output output{.path = path};
  output.owned_as = path.substr(0, path.size() - name.size()) + (of_step ? of_step->plain : name);
  output.holder = commit::holder_of(Path{output.owned_as});
  output.bytes = size_of_target(Path{path});
  output.files.push_back({.path = path,
                          .step = of_step ? of_step->step : -1,
                          .fault = Output::Fault::no_manifest,
                          .story = "there is no " + name + ".json"});
  return output;
}

}  // namespace

std::vector<Output> outputs_at(const std::string& given, Depth depth) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  const bool is_plain_folder = is_folder(path) && !formats::is_folder_of_some_format(Path{path});
  if (is_plain_folder) {
    return look(path == "." ? "" : path.ends_with('/') ? path : path + '/', {}, depth);
  }
  if (is_there(path)) {
    path = commit::followed(Path{path}).text();
  }
  const std::string name = name_in_folder(path);
  auto found = look(path.substr(0, path.size() - name.size()), name, depth);
  if (auto alone = one_of(found, path)) {
    return {std::move(*alone)};
  }
  std::erase_if(found, [&](const Output& output) { return output.path != path; });
  if (found.empty() && is_there(path)) {
    found.push_back(undescribed(path));
  }
  if (found.empty()) {
    throw none_at(path);
  }
  return found;
}

Output output_at(const std::string& path, Depth depth) {
  auto found = outputs_at(path, depth);
  if (found.size() == 1) {
    return std::move(found.front());
  }
  if (found.empty()) {
    throw Error{ErrorCode::not_found, "nothing in " + path + " was written by iocomp"};
  }
  // If a file and a set share a name, the path is that of the file.
  if (std::ranges::all_of(found, [&](const Output& output) { return output.path == path; })) {
    return std::move(found.front());
  }
  std::string names;
  for (const auto& output : found) {
    names += (names.empty() ? "" : ", ") + output.path;
  }
  throw Error{ErrorCode::invalid_argument,
              path + " is a folder with several files; choose one of " + names};
}

}  // namespace iocomp::command
