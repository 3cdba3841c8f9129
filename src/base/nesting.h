// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace iocomp {

/// Lists and objects inside one another that a text in JSON may have: more than iocomp ever writes.
/// Libraries copy and print such values by recursion, so that a hostile text could end the program.
inline constexpr int deepest_nesting = 64;

/// @throws Error{storage_failure} for a text in JSON that nests deeper.
void check_nesting(std::string_view json);

}  // namespace iocomp
