// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/sources.h"

namespace iocomp::config {

/// Settings on their way to other ranks: one line per value, its three fields ended by tabs and a
/// line break.
[[nodiscard]] std::string text_of(const std::vector<Entry>& entries);
/// @throws Error{internal} for a text that ends within a field.
[[nodiscard]] std::vector<Entry> entries_of(std::string_view text);

}  // namespace iocomp::config
