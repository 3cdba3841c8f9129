// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "contents/variable.h"

namespace iocomp::commit {

using Json = nlohmann::ordered_json;

/// {"type", "value"}: text as a string, numbers as a list; a complex number is a pair. Integers are
/// exact, floating-point numbers have the digits that give them back; what JSON has no number for
/// is "NaN", "Infinity" or "-Infinity".
[[nodiscard]] Json json(const contents::Attribute& attribute);
/// An object of them, by name.
[[nodiscard]] Json json(const contents::Attributes& attributes);

/// The value of a text in JSON, which others may have written.
/// @throws Error{storage_failure} for what is none, or nests too deep (base/nesting.h).
[[nodiscard]] Json parse_json(std::string_view text);

/// As text. Names are the user's: bytes that are no UTF-8 must not make a manifest impossible.
[[nodiscard]] std::string one_line(const Json& value);

/// An integer that fits. JSON has one kind of number, and its library converts what does not fit.
/// @throws Error{storage_failure}
[[nodiscard]] std::int64_t integer_from(const Json& value);

/// The other way.
/// @throws Json::exception or Error{storage_failure} for what is not of this form;
/// Error{unsupported} for a type that this release does not know.
[[nodiscard]] contents::Attributes attributes_from(const Json& all);

}  // namespace iocomp::commit
