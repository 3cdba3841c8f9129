// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace iocomp::command {

/// The path of a program that PATH finds, as a shell would.
[[nodiscard]] std::optional<std::string> in_path(const std::string& name);

/// The word as a shell takes it; a word without special letters stays as it is.
[[nodiscard]] std::string quoted(const std::string& word);

enum class Errors { kept, dropped };

/// The text that a program prints.
/// @param words   the program and its arguments.
/// @param errors  whether the text of stderr belongs to it.
[[nodiscard]] std::string printed_by(const std::vector<std::string>& words, Errors errors);

}  // namespace iocomp::command
