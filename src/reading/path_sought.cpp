// SPDX-License-Identifier: BSD-3-Clause
#include "reading/path_sought.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/folder_targets.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/read_manifest.h"
#include "formats/sources.h"
#include "reading/find_committed.h"

namespace iocomp::reading {
namespace {

using Kind = Sought::Kind;

// A folder counts if a format has written it, or if it has a manifest. Other folders only have
// files in them.
bool is_target(const Path& path) {
  const auto found = path.folder().find(path.name(), OpenFolder::Links::followed);
  return found && (!S_ISDIR(found->st_mode) || (commit::followed(path) + ".json").is_there() ||
                   formats::is_folder_of_some_format(path));
}

Sought sought(const std::string& path, Kind kind) {
  return {.name = path, .path = path, .backend = {}, .modules = {}, .kind = kind};
}

bool means(const std::string& given, const std::string& name) {
  const auto dot = name.rfind('.');
  return name == given || (dot != std::string::npos && dot > 0 && name.substr(0, dot) == given);
}

}  // namespace

Sought sought_at(const std::string& path) {
  if (!OpenFolder::if_there(folder_of(path))) {
    return sought(path, Kind::either);
  }
  const Path at{path};
  if (is_target(at)) {
    return sought(path, Kind::one_file);
  }
  const std::string& given = at.name();
  const std::string prefix = path.substr(0, path.size() - given.size());
  std::map<std::string, std::vector<std::string>> found;  // by plain name: its files
  for (const auto& name : at.folder().names()) {
    if (name.starts_with('.') || name.ends_with(".json") || name.ends_with(".vtkhdf")) {
      continue;
    }
    const auto of_step = commit::name_of_step(name);
    const std::string plain = of_step ? of_step->plain : name;
    if (means(given, plain) && (of_step || is_target(at.beside(name)))) {
      found[plain].push_back(name);
    }
  }
  if (found.empty()) {
    return sought(path, Kind::either);
  }
  const auto is_described = [&at](const auto& one) {
    return std::ranges::any_of(one.second, [&at](const std::string& name) {
      return (commit::followed(at.beside(name)) + ".json").is_there();
    });
  };
  if (std::ranges::any_of(found, is_described)) {  // others may be a program, or its log
    std::erase_if(found, [&](const auto& one) { return !is_described(one); });
  }
  const auto& [plain, files] = *found.begin();
  const bool has_one = std::ranges::find(files, plain) != files.end();
  if (found.size() > 1 || (has_one && files.size() > 1)) {
    constexpr std::size_t most_told = 8;
    std::string names;
    std::size_t told = 0;
    for (const auto& [each, of_it] : found) {
      for (const auto& file : of_it) {
        names += told == 0 ? file : told < most_told ? ", " + file : "";
        ++told;
      }
    }
    throw Error{
        ErrorCode::invalid_argument,
        path + ": there are " + names + (told > most_told ? " and others" : "") + "; say which"};
  }
  return sought(prefix + plain, has_one ? Kind::one_file : Kind::file_per_step);
}

}  // namespace iocomp::reading
