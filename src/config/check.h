// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"

namespace iocomp::config {

/// A text for the values that a row allows: "are auto, halves, spread", "is an integer from 1 on".
[[nodiscard]] std::string allowed_text(const Key& row);

/// Refuse a value that the row does not allow.
/// @param name  how the user knows the key: "files.fields.backend".
/// @throws Error{invalid_setting} with name, value, origin and what is allowed.
void check_value(const Key& row, std::string_view name, const Value& value);

/// The parts that every complaint about a setting has: `name = "text" (origin): reason`.
[[noreturn]] void refuse(std::string_view name, const Value& value, std::string_view reason);

/// `unknown setting name (origin): the nearest known one is ...`
[[nodiscard]] std::string unknown_text(std::string_view name, std::string_view origin,
                                       std::string_view nearest_name);

/// `name (origin) is gone: what to say instead`, as an error.
/// @param key  of GoneKey.
/// Nothing happens for keys that have not gone.
void refuse_gone(std::string_view key, std::string_view name, std::string_view origin);

/// @throws Error{invalid_setting} with that text.
[[noreturn]] void refuse_unknown(std::string_view name, std::string_view origin,
                                 std::string_view nearest_name);

}  // namespace iocomp::config
