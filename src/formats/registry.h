// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/format.h"

namespace iocomp::formats {

/// The back-end of that name as it is for files with these options, loaded from its module at first
/// use and kept. `folder` (setting storage.modules) is searched first when it is not empty; then
/// the folder `iocomp` beside this library, then where it was installed or built.
/// @throws Error{unsupported} naming the back-end, the folders searched and those that were found;
/// Error{invalid_setting} for options that it refuses.
[[nodiscard]] const Format& format(std::string_view name, const std::string& folder = {},
                                   const FormatOptions& options = {});

/// The lines of `iocomp info` about a back-end.
struct FormatStatus {
  std::string name;
  bool found = false;
  std::string version;  ///< of its library, when found
  std::string reason;   ///< why not, when not found
};
[[nodiscard]] std::vector<FormatStatus> available_formats(const std::string& folder = {});

}  // namespace iocomp::formats
