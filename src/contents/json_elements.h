// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "array/element_type.h"
#include "contents/variable.h"

namespace iocomp::contents {

using Json = nlohmann::ordered_json;

/// The value of a text in JSON, which others may have written.
/// @throws Error{storage_failure} if it is no JSON, or nests too deep (base/nesting.h).
[[nodiscard]] Json parse_json(std::string_view text);

/// An element: a number, of complex ones a pair. Integers are exact, floating-point numbers have
/// the digits that give them back; what JSON has no number for is "NaN", "Infinity" or "-Infinity".
[[nodiscard]] Json json_element(array::ElementType type, const std::byte* at);

/// All values of an attribute, in a list.
[[nodiscard]] Json json_elements(const Attribute& attribute);

/// The other way, of one element.
/// @throws Error{storage_failure} if it has another form, or does not fit.
void append_element(array::ElementType type, const Json& value, std::vector<std::byte>& bytes);

/// An integer that fits. JSON has one kind of number, and its library converts what does not fit.
/// @throws Error{storage_failure}
[[nodiscard]] std::int64_t integer_from(const Json& value);

/// @throws Error{storage_failure} "it has ... where WANTED is expected".
[[noreturn]] void refuse_json(const Json& value, const char* wanted);

}  // namespace iocomp::contents
