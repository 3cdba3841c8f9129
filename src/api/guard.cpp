// SPDX-License-Identifier: BSD-3-Clause
#include "api/guard.h"

#include <exception>
#include <new>
#include <string>

#include "base/error.h"
#include "base/our_words.h"

namespace iocomp::api {

std::string& last_story() {
  static std::string story;
  return story;
}

int code_of_current_exception() noexcept {
  ErrorCode code = ErrorCode::internal;
  try {
    try {
      throw;
    } catch (const Error& error) {
      code = error.code();
      last_story() = error.what();
    } catch (const std::exception& error) {
      last_story() = in_our_words(error);
    } catch (...) {
      last_story() = "unknown exception";
    }
  } catch (const std::bad_alloc&) {
    return static_cast<int>(code);  // no memory even for the story: the old one stays
  }
  return static_cast<int>(code);
}

void require(const void* pointer, const char* call, const char* what) {
  if (pointer == nullptr) {
    throw Error{ErrorCode::invalid_argument, std::string{call} + ": " + what + " is null"};
  }
}

}  // namespace iocomp::api
