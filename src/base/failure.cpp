// SPDX-License-Identifier: BSD-3-Clause
#include "base/failure.h"

#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace iocomp {

Error failure(const std::string& action, const std::string& path, int errno_value) {
  return Error{ErrorCode::storage_failure, "cannot " + action + ' ' + path + ": " +
                                               std::generic_category().message(errno_value)};
}

Outcome in_file(const Outcome& outcome, const std::string& file, const std::string& where) {
  constexpr std::string_view beginning = "file \"";
  if (outcome.ok() || outcome.story.starts_with(beginning)) {
    return outcome;
  }
  return {outcome.code, std::string{beginning} + file + '"' + where + ": " + outcome.story};
}

}  // namespace iocomp
