// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "contents/json_elements.h"
#include "contents/variable.h"

namespace iocomp::commit {

using contents::integer_from;
using contents::Json;
using contents::parse_json;

/// {"type", "value"}: text as a string, numbers as a list of elements.
[[nodiscard]] Json json(const contents::Attribute& attribute);
/// A JSON object of attributes, by name.
[[nodiscard]] Json json(const contents::Attributes& attributes);

/// The value as one line. Bytes that are not UTF-8 are replaced, because users choose names, and no
/// name must make a manifest impossible.
[[nodiscard]] std::string one_line(const Json& value);

/// Parse such an object.
/// @throws Json::exception or Error{storage_failure} if it has another form; Error{unsupported} for
/// a type that this release does not know.
[[nodiscard]] contents::Attributes attributes_from(const Json& all);

}  // namespace iocomp::commit
