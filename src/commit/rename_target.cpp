// SPDX-License-Identifier: BSD-3-Clause
#include "commit/rename_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/folder_targets.h"

namespace iocomp::commit {
namespace {

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

// Of errno after a refused renameat2 or link: the file system does not know the operation.
bool is_not_supported(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EPERM ||
         error == EMLINK;
}

int plain_rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

int set_aside_and_rename(const std::string& from, const std::string& to) {
  const std::string aside = from + std::string{set_aside_ending};
  int error = plain_rename(to, aside);
  if (error != 0) {
    return error;
  }
  error = plain_rename(from, to);
  if (error != 0) {
    (void)plain_rename(aside, to);
  }
  return error;
}

}  // namespace

int rename_without_replacing(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (!is_not_supported(errno)) {
    return errno;
  }
  if (::link(from.c_str(), to.c_str()) == 0) {
    return ::unlink(from.c_str()) == 0 ? 0 : errno;
  }
  if (!is_not_supported(errno)) {
    return errno;
  }
  // Neither exists here: what remains is a look before the rename, with a moment between the two.
  if (exists(to)) {
    return EEXIST;
  }
  return plain_rename(from, to);
}

int rename_replacing(const std::string& from, const std::string& to) {
  int error = plain_rename(from, to);
  // A folder replaces no file and no folder that has something in it.
  if (error != ENOTEMPTY && error != EEXIST && error != ENOTDIR && error != EISDIR) {
    return error;
  }
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    return 0;
  }
  return is_not_supported(errno) ? set_aside_and_rename(from, to) : errno;
}

int undo_replacing(const std::string& from, const std::string& to) {
  const std::string aside = from + std::string{set_aside_ending};
  if (!exists(aside)) {
    return rename_replacing(from, to);
  }
  const int error = plain_rename(to, from);
  return error != 0 ? error : plain_rename(aside, to);
}

void put_back(const std::string& set_aside, const std::string& to) noexcept {
  if (exists(to)) {
    remove_target(set_aside);
  } else {
    (void)plain_rename(set_aside, to);
  }
}

}  // namespace iocomp::commit
