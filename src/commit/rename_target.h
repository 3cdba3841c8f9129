// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "base/open_folder.h"

namespace iocomp::commit {

/// The old target of a folder that is being replaced, where the file system cannot exchange two
/// names: "<temporary>.old", for a moment.
inline constexpr std::string_view set_aside_ending = ".old";
/// Of the temporary manifest of a server, before ".json": who takes its file over has another.
inline constexpr std::string_view server_ending = ".server";

/// Rename and replace what is there, be it a file or a folder. What was there has the name `from`
/// then, if it is a folder or `from` is one; or, where the file system cannot exchange names,
/// `from` + ".old": between the two renames that it takes there nothing has the name `to`, and
/// `put_back` mends that after a crash.
/// @return 0 or errno.
[[nodiscard]] int rename_replacing(const OpenFolder& folder, const std::string& from,
                                   const std::string& to);

/// Undo it: `to` is what it was before, and `from` what was put in its place.
/// @return 0 or errno.
[[nodiscard]] int undo_replacing(const OpenFolder& folder, const std::string& from,
                                 const std::string& to);

/// Find an old target that a dead job has set aside: give it its name `to` back if nothing has that
/// name, else remove it. Never throws.
void put_back(const OpenFolder& folder, const std::string& set_aside,
              const std::string& to) noexcept;

}  // namespace iocomp::commit
