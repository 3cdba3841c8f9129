// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iocomp {

/// The name of the machine that this process runs on.
[[nodiscard]] std::string host_name();

/// This process begins what its children of fork must not use.
void note_process() noexcept;
/// True in a child of fork of the process that was noted.
[[nodiscard]] bool is_child_of_fork() noexcept;

}  // namespace iocomp
