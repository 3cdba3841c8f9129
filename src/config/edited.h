// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace iocomp::config {

/// A TOML text of settings in which keys of one section have these values (as TOML has them, "x"
/// with its quotes); all else stays as it is, comments too. A pure function.
/// @param section  empty: the keys that stand before all sections.
/// @throws Error{invalid_setting} where the text is none of settings, or says these keys in a way
/// that cannot be edited: then it tells what to write.
[[nodiscard]] std::string edited(const std::string& text, const std::string& section,
                                 const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace iocomp::config
