// SPDX-License-Identifier: BSD-3-Clause
#include "base/failure.h"

#include <string>
#include <system_error>

#include "base/error.h"

namespace iocomp {
Error failure(const std::string& action, const std::string& path, int errno_value) {
  return Error{ErrorCode::storage_failure, "cannot " + action + ' ' + path + ": " +
                                               std::generic_category().message(errno_value)};
}

}  // namespace iocomp
