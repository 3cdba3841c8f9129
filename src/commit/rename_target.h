// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "base/open_folder.h"

namespace iocomp::commit {

/// The ending of an old folder that is being replaced, if the file system cannot exchange two
/// names: "<temporary>.old", for a moment.
inline constexpr std::string_view set_aside_ending = ".old";
/// The ending of a server's temporary manifest, before ".json". Those who take its file over have
/// another name.
inline constexpr std::string_view server_ending = ".server";

/// Rename, and replace a file or a folder. If the old target or the new one is a folder, the old
/// target then has the name `from`. If the file system cannot exchange names, it has the name
/// `from` + ".old". That takes two renames, and between them nothing has the name `to`; `put_back`
/// repairs this after a crash.
/// @return 0 or errno.
[[nodiscard]] int rename_replacing(const OpenFolder& folder, const std::string& from,
                                   const std::string& to);

/// Undo it: `to` is again what it was, and `from` is what had replaced it.
/// @return 0 or errno.
[[nodiscard]] int undo_replacing(const OpenFolder& folder, const std::string& from,
                                 const std::string& to);

/// Treat an old target that a dead job has set aside. It gets its name `to` back if that is free;
/// otherwise it is removed. Never throws.
void put_back(const OpenFolder& folder, const std::string& set_aside,
              const std::string& to) noexcept;

}  // namespace iocomp::commit
