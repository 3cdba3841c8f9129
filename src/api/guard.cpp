// SPDX-License-Identifier: BSD-3-Clause
#include "api/guard.h"

#include <string>

#include "base/error.h"

namespace iocomp::api {

std::string& last_story() {
  static std::string story;
  return story;
}

void require(const void* pointer, const char* call, const char* what) {
  if (pointer == nullptr) {
    throw Error{ErrorCode::invalid_argument, std::string{call} + ": " + what + " is null"};
  }
}

}  // namespace iocomp::api
