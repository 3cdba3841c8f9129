// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace iocomp::command {

/// The Python program that a subcommand starts in its place.
struct PythonProgram {
  std::filesystem::path script;
  std::filesystem::path needed;    ///< a file that is there where the program is complete
  std::string needs;               ///< what to do where it is missing, after "`iocomp NAME` "
  std::vector<std::string> words;  ///< before those of the user
};

/// Add a subcommand that is a Python program: it gets all words, --help and -- too, and its status
/// is that of the command. The variable STUDY_COMMAND tells it where the command lies.
/// @param words  what follows the name of the subcommand; CLI11 must not see it, as it takes --
/// away.
/// @throws Error{unsupported} when it is called and the needed file is not there.
void add_python_program(CLI::App& app, const std::string& name, const std::string& about,
                        const PythonProgram& program, const std::vector<std::string>& words);

/// Add the options and subcommands that a Python program has, if `command` is one: completion and
/// the manual then treat it as any other. The program prints them as JSON when its last word is
/// --tell-words:
///     {"options": [{"names": "-o,--out", "about": "", "values": ["a", "b"], "default": "",
///                   "is_flag": false}],
///      "commands": [{"name": "run", "about": "", "options": [], "commands": []}]}
/// A name without - is that of a word without an option. Nothing is added where Python or a
/// package of it is missing.
void ask_for_words(CLI::App& command);

}  // namespace iocomp::command
