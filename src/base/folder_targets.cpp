// SPDX-License-Identifier: BSD-3-Clause
#include "base/folder_targets.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"

namespace iocomp {
namespace {

using Links = OpenFolder::Links;

bool is_folder_in(const OpenFolder& folder, const std::string& name,
                  Links links = Links::as_they_are) {
  const auto found = folder.find(name, links);
  return found && S_ISDIR(found->st_mode);
}

// The job that writes a folder may rename and remove what is in it meanwhile.
std::optional<std::int64_t> size_in(const OpenFolder& folder, const std::string& name,
                                    Links links = Links::as_they_are) {
  const auto found = folder.find(name, Links::followed);
  if (!found || !is_folder_in(folder, name, links)) {
    return found ? std::optional{found->st_size} : std::nullopt;
  }
  std::int64_t sum = 0;
  const Outcome summed = outcome_of([&] {
    const OpenFolder inside = folder.folder(name, links);
    for (const auto& one : inside.names()) {
      sum += size_in(inside, one).value_or(0);
    }
  });
  if (!folder.find(name, links)) {
    return std::nullopt;
  }
  summed.throw_unless_ok();
  return sum;
}

// An empty folder, too, was begun by a format, if it lies in one with its mark.
bool has_mark(const OpenFolder& folder, const std::string& mark, bool may_have_folders) {
  const auto names = folder.names();
  const bool has_it = std::ranges::find(names, mark) != names.end();
  return (has_it || (names.empty() && !may_have_folders)) &&
         std::ranges::all_of(names, [&](const std::string& name) {
           const auto found = folder.find(name);
           return !found || S_ISREG(found->st_mode) ||
                  (may_have_folders && S_ISDIR(found->st_mode) &&
                   has_mark(folder.folder(name), mark, false));
         });
}

void sync_in(const OpenFolder& folder, const std::string& name) {
  const Descriptor file = folder.open(name, O_RDONLY, Links::followed);
  // Some network file systems say EINVAL of what needs no fsync.
  if (::fsync(file.raw()) != 0 && errno != EINVAL) {
    throw failure("fsync", folder.text(name), errno);
  }
}

}  // namespace

bool is_folder(const Path& path, Links links) {
  return is_folder_in(path.folder(), path.name(), links);
}

std::optional<std::int64_t> size_if_there(const Path& path) {
  return size_in(path.folder(), path.name(), Links::followed);
}

std::int64_t size_of_target(const Path& path) {
  const auto size = size_if_there(path);
  if (!size) {
    throw failure("find", path.text(), ENOENT);
  }
  return *size;
}

void make_durable(const Path& path) {
  if (is_folder(path)) {
    make_durable(path.folder().folder(path.name()));
  } else {
    sync_in(path.folder(), path.name());
  }
}

void make_durable(const OpenFolder& folder) {
  for (const auto& name : folder.names()) {
    if (is_folder_in(folder, name)) {
      make_durable(folder.folder(name));
    } else {
      sync_in(folder, name);
    }
  }
  folder.sync();
}

bool is_folder_of_a_format(const Path& path, const std::string& mark) {
  bool is_one = false;
  (void)outcome_of(
      [&] { is_one = has_mark(path.folder().folder(path.name(), Links::followed), mark, true); });
  return is_one;
}

}  // namespace iocomp
