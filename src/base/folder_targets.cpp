// SPDX-License-Identifier: BSD-3-Clause
#include "base/folder_targets.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/failure.h"
#include "base/open_folder.h"
#include "base/path.h"

namespace iocomp {
namespace {

using Links = OpenFolder::Links;

std::int64_t size_in(const OpenFolder& folder, const std::string& name) {
  const auto found = folder.find(name, Links::followed);
  if (!found) {
    throw failure("find", folder.text(name), ENOENT);
  }
  return found->st_size;
}

void sync_in(const OpenFolder& folder, const std::string& name) {
  const Descriptor file = folder.open(name, O_RDONLY, Links::followed);
  // Some network file systems say EINVAL of what needs no fsync.
  if (::fsync(file.raw()) != 0 && errno != EINVAL) {
    throw failure("fsync", folder.text(name), errno);
  }
}

}  // namespace

bool is_folder(const Path& path) {
  const auto found = path.folder().find(path.name());
  return found && S_ISDIR(found->st_mode);
}

std::int64_t size_of_target(const Path& path) {
  if (!is_folder(path)) {
    return size_in(path.folder(), path.name());
  }
  const OpenFolder folder = path.folder().folder(path.name());
  std::int64_t sum = 0;
  for (const auto& name : folder.names()) {
    sum += size_in(folder, name);
  }
  return sum;
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
    sync_in(folder, name);
  }
  folder.sync();
}

bool is_folder_of_a_format(const Path& path, const std::string& mark) {
  bool is_one = false;
  (void)outcome_of([&] {
    const OpenFolder folder = path.folder().folder(path.name(), Links::followed);
    for (const auto& name : folder.names()) {
      const auto found = folder.find(name);
      if (!found || !S_ISREG(found->st_mode)) {
        is_one = false;
        return;
      }
      is_one = is_one || name == mark;
    }
  });
  return is_one;
}

}  // namespace iocomp
