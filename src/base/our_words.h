// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

namespace iocomp {

/// What an exception says, in words for users: those of the JSON library and of conversions of the
/// standard library name their own functions.
[[nodiscard]] std::string in_our_words(const std::exception& error);

}  // namespace iocomp
