// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::command {

/// Names of subcommands and options that --help shows.
[[nodiscard]] std::vector<std::string> subcommands_of(const CLI::App& app);
/// "--json"; of options that have no long name the short one. Without --help.
[[nodiscard]] std::vector<std::string> options_of(const CLI::App& command);

/// @param words  of the command line, behind the program.
/// @throws Error{invalid_argument} naming the nearest subcommand, where the first word is none.
void check_subcommand(const CLI::App& app, const std::vector<std::string>& words);

/// The error for a word that the subcommand does not know, with the nearest option.
[[nodiscard]] Error unexpected(const CLI::App& app);

}  // namespace iocomp::command
