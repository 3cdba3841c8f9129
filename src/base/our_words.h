// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace iocomp {

/// The text of an exception in words for users: the JSON library and conversions of the standard
/// library name their own functions.
[[nodiscard]] std::string in_our_words(const std::exception& error);

/// Turn the exception in flight into a code, for callers that no exception may reach.
/// @param story  gets the text; unchanged if there is no memory for it.
[[nodiscard]] ErrorCode code_of_current_exception(std::string& story) noexcept;

}  // namespace iocomp
