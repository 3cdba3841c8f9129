// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "reading/find_committed.h"

namespace iocomp::reading {

/// Find the files that a path means without any settings: a file, with or without its extension, or
/// a set of files of one step each, without their number.
/// @throws Error{not_found}; Error{invalid_argument}, naming them, if it may mean several.
[[nodiscard]] Sought sought_at(const std::string& path);

}  // namespace iocomp::reading
