// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iocomp::command {

/// Replaces what is there. @throws Error{storage_failure} with the operating system's text.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace iocomp::command
