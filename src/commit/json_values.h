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
/// An object of them, by name.
[[nodiscard]] Json json(const contents::Attributes& attributes);

/// As text. Names are the user's: bytes that are no UTF-8 must not make a manifest impossible.
[[nodiscard]] std::string one_line(const Json& value);

/// The other way.
/// @throws Json::exception or Error{storage_failure} for what is not of this form;
/// Error{unsupported} for a type that this release does not know.
[[nodiscard]] contents::Attributes attributes_from(const Json& all);

}  // namespace iocomp::commit
