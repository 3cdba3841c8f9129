// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/beside.h"

#include <system_error>

namespace iocomp::command {

std::filesystem::path command_file() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure);
}

std::filesystem::path beside_command(const std::filesystem::path& relative) {
  return (command_file().parent_path() / relative).lexically_normal();
}

}  // namespace iocomp::command
