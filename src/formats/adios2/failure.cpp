// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/failure.h"

#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"

namespace iocomp::formats::bp {

Error failure_of_adios2(const std::string& what, const std::exception& error) {
  constexpr std::string_view mark = "[ADIOS2 EXCEPTION]";  // behind a date
  constexpr char escape = '\x1b';
  std::string_view told = error.what();
  if (const auto at = told.find(mark); at != std::string_view::npos) {
    told.remove_prefix(at + mark.size());
  }
  std::string plain;
  bool is_colour = false;  // from an escape to the next 'm'
  for (const char letter : told) {
    is_colour = is_colour || letter == escape;
    if (!is_colour && letter != '\n' && (letter != ' ' || !plain.empty())) {
      plain += letter;
    }
    is_colour = is_colour && letter != 'm';
  }
  return {ErrorCode::storage_failure, "cannot " + what + ": ADIOS2: " + plain};
}

}  // namespace iocomp::formats::bp
