// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace iocomp::command {

/// A file that is installed beside this command, also in a tree that was moved.
/// @param relative  seen from the folder of the command.
[[nodiscard]] std::filesystem::path beside_command(const std::filesystem::path& relative);

/// The file of this command.
[[nodiscard]] std::filesystem::path command_file();

}  // namespace iocomp::command
