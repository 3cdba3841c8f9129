// SPDX-License-Identifier: BSD-3-Clause
#include "reading/find_committed.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/earlier_steps.h"
#include "commit/read_manifest.h"
#include "formats/source.h"
#include "formats/sources.h"
#include "reading/committed.h"

namespace iocomp::reading {
namespace {

// The files in the folder under a name.
struct Found {
  bool one_file = false;
  std::map<std::int64_t, Path> of_step;
  std::string uncommitted;  // a file that is being written; empty if there is none
  std::string other;        // a committed file of that name, with the ending of another format
};

// The name without its ending, which tells the format.
std::string stem(const std::string& name) { return name.substr(0, name.rfind('.')); }

// True if a file differs from `plain` in its ending alone.
bool is_of_another_format(const std::string& name, const std::string& plain) {
  const auto of_step = commit::name_of_step(name);
  const std::string& other = of_step ? of_step->plain : name;
  return other != plain && other != stem(other) && stem(other) == stem(plain);
}

Found look_for(const Path& path) {
  const std::string& plain = path.name();
  Found found;
  for (const auto& name : path.folder().names()) {
    const std::string target = commit::belongs_to(name);
    if (name == plain) {
      found.one_file = true;
    } else if (const auto step = commit::step_in_name(name, plain)) {
      found.of_step.emplace(*step, path.beside(name));
    } else if (is_of_another_format(name, plain) && path.beside(name + ".json").is_there()) {
      found.other = std::max(found.other, path.beside(name).text());
    } else if (!name.ends_with(".json") && !name.ends_with(".vtkhdf") && !target.empty() &&
               (target == plain || commit::step_in_name(target, plain))) {
      found.uncommitted = path.beside(name).text();
    }
  }
  return found;
}

struct Readable {
  Committed::File file;
  contents::Inventory inventory;
  commit::Superseded supersedes{};
  bool is_another = false;  // a series that is called like a step
};

// The step of a file of one step has the number in the name of the file.
contents::Inventory numbered_by_name(contents::Inventory inventory, const Path& path) {
  const auto of_step = commit::name_of_step(path.name());
  if (of_step && inventory.steps.size() == 1) {
    inventory.names[inventory.steps.front()] = {of_step->step, contents::unknown_time};
  }
  return inventory;
}

Readable look_at(const Path& path, const Sought& sought) {
  const Path manifest_path = commit::followed(path) + ".json";
  if (const auto text =
          sought.believes_manifest ? commit::manifest_in_force(manifest_path) : std::nullopt) {
    auto manifest = commit::parse_manifest(*text, manifest_path.text());
    commit::check_whole(path, manifest, sought.modules);
    const auto of_step = commit::name_of_step(path.name());
    const bool is_another =
        manifest.kind == "series" && of_step && !commit::is_step_of_set(manifest, of_step->step);
    return {{path.name(), manifest.format, true},
            std::move(manifest.inventory),
            std::move(manifest.supersedes),
            is_another};
  }
  const std::string format =
      sought.backend.empty() ? formats::format_of_file(path, sought.modules) : sought.backend;
  const auto source = formats::open_source(format, path, sought.modules);
  Readable readable;  // no braced list: GCC 12 frees its first member twice if a later one throws
  readable.file = {path.name(), format};
  try {
    readable.inventory = numbered_by_name(source->inventory(), path);
    return readable;
  } catch (const Error& error) {
    throw Error{error.code(), "cannot read " + path.text() + " (back-end \"" + format +
                                  "\", there is no " + manifest_path.text() + "): " + error.what()};
  }
}

// A copy under the name of another step is not that step.
void check_number(std::int64_t named, const Path& path, const contents::Inventory& inventory) {
  if (const auto told = inventory.name_of(inventory.steps.front()).number; told != named) {
    throw Error{ErrorCode::storage_failure,
                "cannot read " + path.text() + ": it is step " + std::to_string(told) +
                    ", as its manifest says, and not step " + std::to_string(named)};
  }
}

// Adds files of one step each. A torn file says nothing against the others, because its writer may
// have died, or the disk was full. The newest is opened, because it is read most often.
void add_steps(Committed& committed, const Path& plain, const Found& found, const Sought& sought) {
  std::vector<std::pair<std::int64_t, Readable>> readable;
  // If only a manifest could describe such files, one without a manifest counts as torn.
  const auto lacks_manifest = [](const Path& path) {
    return !(commit::followed(path) + ".json").is_there();
  };
  const auto has_manifest = [](const auto& one) { return one.second.file.has_manifest; };
  const auto unless_torn = [&](std::int64_t step, const auto& body) {
    try {
      body();
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::storage_failure &&
          !(error.code() == ErrorCode::unsupported && lacks_manifest(found.of_step.at(step)))) {
        throw;
      }
      committed.torn.push_back({step, error.what()});
      return false;
    }
  };
  for (const auto& [step, path] : found.of_step) {
    unless_torn(step, [&] {
      auto found_there = look_at(path, sought);
      if (!found_there.is_another && found_there.inventory.steps.size() == 1) {
        check_number(step, path, found_there.inventory);
        readable.emplace_back(step, std::move(found_there));
      }
    });
  }
  // The manifest of a step is there before its file has its name.
  if (std::ranges::any_of(readable, has_manifest)) {
    for (const auto& [step, file] : readable) {
      if (!file.file.has_manifest) {
        committed.torn.push_back({step, "cannot read " + plain.beside(file.file.name).text() +
                                            ": it has no manifest, and other steps have one"});
      }
    }
    std::erase_if(readable, std::not_fn(has_manifest));
  }
  // Files that a job was about to remove when it ended are of another run.
  std::set<std::int64_t> superseded;
  for (const auto& [number, file] : readable) {
    const auto steps = commit::still_there(file.supersedes, plain);
    superseded.insert(steps.begin(), steps.end());
  }
  std::erase_if(readable, [&](const auto& one) { return superseded.contains(one.first); });
  while (!readable.empty() && !unless_torn(readable.back().first, [&] {
    const auto& file = readable.back().second.file;
    (void)formats::open_source(file.format, plain.beside(file.name), sought.modules);
  })) {
    readable.pop_back();
  }
  std::ranges::sort(committed.torn, {}, &Committed::Torn::step);
  if (readable.empty() && committed.torn.empty()) {
    return;  // all are other files
  }
  if (readable.empty()) {
    const auto others = committed.torn.size() - 1;
    throw Error{ErrorCode::storage_failure,
                committed.torn.back().story +
                    (others == 0 ? ""
                                 : "; nor can the files of " + std::to_string(others) +
                                       " earlier steps be read")};
  }
  for (const auto& torn : committed.torn) {
    log::warning("file \"" + sought.name + "\": step " + std::to_string(torn.step) +
                 " is left out: " + torn.story);
  }
  for (auto& [step, file] : readable) {
    committed.add(std::move(file.file), file.inventory);
  }
}

Error none_there(const Sought& sought, const std::string& path, const Found& found) {
  const std::string& one = path;
  const std::string name = name_in_folder(path);
  const std::string many =
      path.substr(0, path.size() - name.size()) + commit::name_with_step(name, 0) + " and so on";
  std::string story = "there is no committed file \"" + sought.name + "\": no ";
  story += sought.kind == Sought::Kind::one_file        ? one
           : sought.kind == Sought::Kind::file_per_step ? many
                                                        : one + ", nor " + many;
  if (!found.uncommitted.empty()) {
    story += "; " + found.uncommitted + " is there, of which nothing is committed (yet)";
  }
  if (!found.other.empty()) {  // a program that starts anew would not tell it
    story += "; " + found.other + " is there, of another format than the settings say";
    log::warning(story);
  }
  return Error{ErrorCode::not_found, story};
}

}  // namespace

Committed find_committed(const Sought& sought) {
  const std::string& said = sought.path;
  if (!OpenFolder::if_there(folder_of(said))) {
    throw none_there(sought, said, {});
  }
  const Path path{said};
  const Found found = look_for(path);
  const bool one = found.one_file && sought.kind != Sought::Kind::file_per_step;
  const bool many = !found.of_step.empty() && sought.kind != Sought::Kind::one_file &&
                    !(one && commit::steps_in_names(path).empty());
  if (one && many) {
    throw Error{ErrorCode::invalid_argument,
                "the file \"" + sought.name + "\" is there twice: as " + said + " and as " +
                    found.of_step.begin()->second.text() + "; say which by files." + sought.name +
                    ".kind = \"series\" or \"checkpoint\""};
  }
  if (!one && !many) {
    throw none_there(sought, said, found);
  }
  Committed committed;
  committed.folder = path.folder().address();
  committed.said = folder_of(said);
  if (one) {
    auto file = look_at(path, sought);
    committed.add(std::move(file.file), file.inventory);
  } else {
    add_steps(committed, path, found, sought);
    if (committed.steps.empty()) {
      throw none_there(sought, said, found);
    }
  }
  return committed;
}

}  // namespace iocomp::reading
