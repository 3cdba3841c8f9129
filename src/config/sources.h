// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace iocomp::config {

/// All settings of a TOML text.
/// @param source      what errors call the text: "iocomp.toml", "program".
/// @param with_lines  whether the origin names the line: "iocomp.toml:12".
/// @throws Error{invalid_setting} for bad syntax, unknown keys and bad values.
[[nodiscard]] std::vector<Entry> read_toml(std::string_view text, std::string_view source,
                                           bool with_lines);

/// The name of the program's own text in errors and origins.
inline constexpr std::string_view program_source = "program";

/// Reads the options of the call that opens a file, as keys of that file.
/// @throws Error{invalid_setting} as read_toml; also for sections: other files and other settings
/// do not belong in this call.
[[nodiscard]] std::vector<Entry> read_options(std::string_view options, std::string_view file);

/// The settings of all sources, and warnings for the user.
struct Found {
  std::vector<Entry> entries;
  std::vector<std::string> warnings;
};

/// All settings of the variables IOCOMP_*, in the order of their names. Others may use that
/// beginning too (environment modules set IOCOMP_HOME), so an unknown name is a warning.
/// @throws Error{invalid_setting} for bad values.
[[nodiscard]] Found read_environment();

/// All settings of all sources, weakest first: program, file, environment (see Settings::read).
/// @throws Error{invalid_setting}, also for a settings file that cannot be read.
[[nodiscard]] Found read_sources(std::string_view program);

/// The text of the settings file that this process reads; empty: there is none.
/// @throws Error{invalid_setting} if it cannot be read.
[[nodiscard]] std::string settings_text();

/// The name of a file in the environment: "fields.v2" is FIELDS_V2.
[[nodiscard]] std::string environment_name(std::string_view name);

/// The name of a variable there. All but letters and digits become '_', as in GROUP_U.
[[nodiscard]] std::string environment_name_of_variable(std::string_view name);

/// Settings of a file from the environment are stored as "files.$FIELDS_V2.backend": which of the
/// files that are called so there (fields.v2, Fields-v2) the program will open is not known yet,
/// and '$' is in no name.
inline constexpr char environment_mark = '$';

}  // namespace iocomp::config
