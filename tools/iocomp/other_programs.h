// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace iocomp::command {

/// The path of a program that PATH finds, as a shell would.
[[nodiscard]] std::optional<std::string> in_path(const std::string& name);

/// All that a program prints, errors too, when it gets one argument.
[[nodiscard]] std::string printed_by(const std::string& program, const std::string& argument);

}  // namespace iocomp::command
