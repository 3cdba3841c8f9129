// SPDX-License-Identifier: BSD-3-Clause
#include <sys/stat.h>

#include <string>

#include "base/open_folder.h"
#include "base/path.h"
#include "commit/commit.h"

namespace iocomp::commit {

std::string inode_of(const Path& path) {
  const auto status = path.folder().find(path.name(), OpenFolder::Links::followed);
  return status ? std::to_string(status->st_ino) : std::string{};
}

std::string identity_of(const struct stat& status) {
  return std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
}

std::string identity_of(const Path& path) {
  const auto status = path.folder().find(path.name(), OpenFolder::Links::followed);
  return status ? identity_of(*status) : std::string{};
}

}  // namespace iocomp::commit
