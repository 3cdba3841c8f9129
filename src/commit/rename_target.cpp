// SPDX-License-Identifier: BSD-3-Clause
#include "commit/rename_target.h"

#include <cerrno>
#include <string>

#include "base/error.h"
#include "base/open_folder.h"

namespace iocomp::commit {
namespace {

int set_aside_and_rename(const OpenFolder& folder, const std::string& from, const std::string& to) {
  const std::string aside = from + std::string{set_aside_ending};
  int error = folder.rename(to, aside);
  if (error != 0) {
    return error;
  }
  error = folder.rename(from, to);
  if (error != 0) {
    (void)folder.rename(aside, to);
  }
  return error;
}

}  // namespace

int rename_replacing(const OpenFolder& folder, const std::string& from, const std::string& to) {
  int error = folder.rename(from, to);
  // A rename puts no folder in the place of a file, or of a folder that is not empty.
  if (error != ENOTEMPTY && error != EEXIST && error != ENOTDIR && error != EISDIR) {
    return error;
  }
  error = folder.exchange(from, to);
  return is_not_supported(error) ? set_aside_and_rename(folder, from, to) : error;
}

int undo_replacing(const OpenFolder& folder, const std::string& from, const std::string& to) {
  const std::string aside = from + std::string{set_aside_ending};
  bool is_set_aside = false;
  (void)outcome_of([&] { is_set_aside = folder.has(aside); });
  if (!is_set_aside) {
    return rename_replacing(folder, from, to);
  }
  const int error = folder.rename(to, from);
  return error != 0 ? error : folder.rename(aside, to);
}

void put_back(const OpenFolder& folder, const std::string& set_aside,
              const std::string& to) noexcept {
  if (folder.rename_first(set_aside, to) == EEXIST) {
    folder.remove(set_aside);
  }
}

}  // namespace iocomp::commit
