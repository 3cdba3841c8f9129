// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iocomp {

/// The name of the machine that this process runs on.
[[nodiscard]] std::string host_name();

/// True in a child of fork: then this process is not the one that made the first call of this.
[[nodiscard]] bool is_child_of_fork() noexcept;

}  // namespace iocomp
