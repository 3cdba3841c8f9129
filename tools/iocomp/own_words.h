// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace iocomp::command {

/// The number of words behind the name of a subcommand that are its own: the others belong to the
/// program that it starts. CLI11 must not see those, as it takes -- away. A subcommand that starts
/// a program is a prefix command. Without a --help of its own it has no words at all; else its
/// words are the options before the program.
[[nodiscard]] std::size_t own_words(const CLI::App& command, const std::vector<std::string>& words);

/// Let an option take one word with all its values, "1,2,3". It would swallow the words behind it
/// otherwise, and the -- before a program.
void take_list(CLI::Option& option, const std::string& value);

}  // namespace iocomp::command
