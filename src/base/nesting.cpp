// SPDX-License-Identifier: BSD-3-Clause
#include "base/nesting.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace iocomp {

void check_nesting(std::string_view json) {
  int depth = 0;
  bool is_in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (is_in_text) {
      at += c == '\\' ? 1 : 0;
      is_in_text = c != '"';
    } else if (c == '"') {
      is_in_text = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    if (depth > deepest_nesting) {
      throw Error{ErrorCode::storage_failure,
                  "it nests deeper than " + std::to_string(deepest_nesting) +
                      " lists and objects, at byte " + std::to_string(at)};
    }
  }
}

}  // namespace iocomp
