// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

#include "script.h"
#include "stage.h"

namespace actor {

/// The words of a script; README.md says what they mean.
using Words = std::map<std::string, void (*)(Stage&, const Line&)>;

[[nodiscard]] Words file_words();
[[nodiscard]] Words put_words();
[[nodiscard]] Words read_words();
[[nodiscard]] Words session_words();
[[nodiscard]] Words wait_words();
[[nodiscard]] Words world_words();  // what happens around calls of iocomp

}  // namespace actor
