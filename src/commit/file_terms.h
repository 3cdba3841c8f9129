// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "array/element_type.h"
#include "base/crew.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/variable.h"
#include "formats/format.h"

namespace iocomp::commit {

// What the settings of a file mean to its format and to its commit.

/// @throws Error{invalid_argument} for a name that cannot be that of a file.
void check_name(const std::string& name);

/// Where a file goes: its setting `path`, else its name with the extension of the format.
[[nodiscard]] std::string path_in_force(const std::string& name, const std::string& path,
                                        const formats::Format& format);

/// @param crew  the threads that compress; null: none but the caller.
[[nodiscard]] formats::FormatOptions format_options(const config::FileSettings& file,
                                                    Crew* crew = nullptr);

/// The type that the file has of a variable, which the program has defined with `variable.type`.
/// @throws Error{invalid_setting} where another type is asked for by its name, and cannot be.
[[nodiscard]] array::ElementType kept_type(const config::FileSettings& file,
                                           const contents::Variable& variable);

/// @param job          "<host>-<pid>", the same on all ranks.
/// @param is_given_up  of a server that may be stopped, and go on when the ranks have its files.
[[nodiscard]] Publication::Identity identity(const std::string& name,
                                             const config::FileSettings& file,
                                             const std::string& job,
                                             std::function<bool()> is_given_up = {});

}  // namespace iocomp::commit
