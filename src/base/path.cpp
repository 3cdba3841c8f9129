// SPDX-License-Identifier: BSD-3-Clause
#include "base/path.h"

#include <memory>
#include <string>

#include "base/error.h"
#include "base/open_folder.h"

namespace iocomp {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string{} : slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_in_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Path::Path(const std::string& text)
    : folder_{std::make_shared<const OpenFolder>(folder_of(text))}, name_{name_in_folder(text)} {}

const OpenFolder& Path::folder() const {
  if (failure_) {
    failure_->throw_unless_ok();
  }
  if (!folder_) {
    throw Error{ErrorCode::storage_failure, "this rank has not opened the folder of the file"};
  }
  return *folder_;
}

}  // namespace iocomp
