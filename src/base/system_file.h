// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace iocomp {

/// The text of a file that the system makes: below /proc and /sys. Empty if there is none.
[[nodiscard]] std::string read_system_file(const std::string& path);
/// The names in such a folder; none if it is not there.
[[nodiscard]] std::vector<std::string> names_in_system_folder(const std::string& path);

/// The number of a namespace of this process ("pid", "time"); 0 if the system has none.
[[nodiscard]] std::int64_t own_namespace(const std::string& kind);

/// A text that tells the running system from all others; empty if it is not told.
[[nodiscard]] const std::string& boot_id();

}  // namespace iocomp
