// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "array/element_type.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/variable.h"
#include "disk/options.h"
#include "formats/format.h"

namespace iocomp::commit {

// These functions translate the settings of a file for its format and for its commit.

/// @throws Error{invalid_argument} for a name that cannot be that of a file.
void check_name(const std::string& name);

/// The path of a file: its setting `path`, or else its name with the extension of the format.
[[nodiscard]] std::string path_in_force(const std::string& name, const std::string& path,
                                        const formats::Format& format);

/// @param disk  how this process writes, and by which threads.
[[nodiscard]] formats::FormatOptions format_options(const config::FileSettings& file,
                                                    const disk::Options& disk = {});

/// The type of a variable in the file. The program has defined the variable with `variable.type`.
/// @throws Error{invalid_setting} if the settings of this one variable ask for a type that it
/// cannot have.
[[nodiscard]] array::ElementType kept_type(const config::FileSettings& file,
                                           const contents::Variable& variable);

/// @param job        "<host>-<pid>", the same on all ranks.
/// @param is_fenced  for a server, which may be stopped and go on after the ranks have taken its
/// files.
[[nodiscard]] Publication::Identity identity(const std::string& name,
                                             const config::FileSettings& file,
                                             const std::string& job,
                                             std::function<bool()> is_fenced = {});

}  // namespace iocomp::commit
