// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"

#include <string>
#include <string_view>
#include <system_error>

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

const char* code_name(int code) noexcept {
  switch (static_cast<ErrorCode>(code)) {
    case ErrorCode::ok:
      return "ok";
    case ErrorCode::invalid_argument:
      return "invalid argument";
    case ErrorCode::out_of_staging_memory:
      return "out of staging memory";
    case ErrorCode::storage_failure:
      return "storage failure";
    case ErrorCode::mpi_failure:
      return "MPI failure";
    case ErrorCode::invalid_setting:
      return "invalid setting";
    case ErrorCode::target_exists:
      return "target exists";
    case ErrorCode::inconsistent_calls:
      return "inconsistent calls";
    case ErrorCode::timed_out:
      return "timed out";
    case ErrorCode::overlapping_puts:
      return "overlapping puts";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::not_found:
      return "not found";
    case ErrorCode::internal:
      return "internal error";
  }
  return "unknown code";
}

}  // namespace iocomp
