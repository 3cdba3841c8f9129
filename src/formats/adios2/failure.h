// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace iocomp::formats::bp {

/// What became of a call of ADIOS2: "cannot WHAT: ADIOS2: ...". It has dates and colours in its
/// texts, which are left out.
[[nodiscard]] Error failure_of_adios2(const std::string& what, const std::exception& error);

}  // namespace iocomp::formats::bp
