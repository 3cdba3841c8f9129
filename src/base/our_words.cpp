// SPDX-License-Identifier: BSD-3-Clause
#include "base/our_words.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"

namespace iocomp {
namespace {

std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
  const auto begin = text.find(before);
  if (begin == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(begin + before.size());
  return text.substr(0, text.find(behind));
}

// "[json.exception.parse_error.101] parse error at line 1, column 5: ..." and others.
std::string of_json(std::string_view what) {
  if (const auto place = between(what, "parse error at ", ":"); !place.empty()) {
    return "it is not JSON from " + std::string{place} + " on";
  }
  if (const auto key = between(what, "key '", "' not found"); !key.empty()) {
    return "the entry \"" + std::string{key} + "\" is missing";
  }
  if (const auto wanted = between(what, "type must be ", ","); !wanted.empty()) {
    return "an entry is a " + std::string{between(what, "but is ", ";")} + ", and must be a " +
           std::string{wanted};
  }
  if (what.find("number overflow") != std::string_view::npos) {
    return "it has a number that is too large";
  }
  return "an entry has not the form that it must have";
}

}  // namespace

std::string in_our_words(const std::exception& error) {
  const std::string_view what = error.what();
  if (what.starts_with("[json.")) {
    return of_json(what);
  }
  const bool is_conversion = dynamic_cast<const std::invalid_argument*>(&error) != nullptr ||
                             dynamic_cast<const std::out_of_range*>(&error) != nullptr;
  return is_conversion && what.starts_with("sto")
             ? "an entry is no number, or one that is too large"
             : std::string{what};
}

ErrorCode code_of_current_exception(std::string& story) noexcept {
  ErrorCode code = ErrorCode::internal;
  try {
    try {
      throw;
    } catch (const Error& error) {
      code = error.code();
      story = error.what();
    } catch (const std::exception& error) {
      story = in_our_words(error);
    } catch (...) {
      story = "unknown exception";
    }
  } catch (const std::bad_alloc&) {
    return code;  // no memory even for the story: the old one stays
  }
  return code;
}

}  // namespace iocomp
