// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/slice.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "array/box.h"
#include "array/region.h"
#include "base/error.h"

namespace iocomp::command {
namespace {

// A number, or the default if the text is empty.
std::int64_t number(std::string_view text, std::int64_t otherwise, std::int64_t extent) {
  if (text.empty()) {
    return otherwise;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Error{ErrorCode::invalid_argument, '"' + std::string{text} + "\" is no number"};
  }
  return value < 0 ? value + extent : value;
}

// Begin and end of a dimension.
std::pair<std::int64_t, std::int64_t> range(std::string_view text, std::int64_t extent) {
  if (text.empty()) {
    throw Error{ErrorCode::invalid_argument, "a number or a range is missing; \":\" is all"};
  }
  const auto colon = text.find(':');
  const std::int64_t begin = number(text.substr(0, colon), 0, extent);
  const std::int64_t end =
      colon == std::string_view::npos ? begin + 1 : number(text.substr(colon + 1), extent, extent);
  if (begin < 0 || end < begin || end > extent) {
    throw Error{ErrorCode::invalid_argument,
                '"' + std::string{text} + "\" leaves 0:" + std::to_string(extent)};
  }
  return {begin, end};
}

}  // namespace

array::Box slice(const std::string& text, const array::Shape& shape) {
  array::Box box = array::whole(shape);
  std::string_view rest = text;
  try {
    for (std::size_t d = 0; !rest.empty(); ++d) {
      if (d == static_cast<std::size_t>(shape.dimensions)) {
        throw Error{ErrorCode::invalid_argument, "it has too many dimensions"};
      }
      const auto comma = rest.find(',');
      const auto [begin, end] = range(rest.substr(0, comma), shape.extent.at(d));
      box.start.at(d) = begin;
      box.count.at(d) = end - begin;
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
      if (comma != std::string_view::npos && rest.empty()) {
        throw Error{ErrorCode::invalid_argument, "it ends with a comma"};
      }
    }
  } catch (const Error& error) {
    throw Error{error.code(), "the slice \"" + text + "\" does not fit the shape " +
                                  array::text(shape) + ": " + error.what()};
  }
  return box;
}

}  // namespace iocomp::command
