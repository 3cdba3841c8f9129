// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iocomp {

/// The name of the machine that this process runs on.
[[nodiscard]] std::string host_name();

}  // namespace iocomp
