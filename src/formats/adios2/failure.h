// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace iocomp::formats::bp {

/// The error for a call of ADIOS2 that failed: "cannot WHAT: ADIOS2: ...". Dates and colours in
/// ADIOS2's text are left out.
[[nodiscard]] Error failure_of_adios2(const std::string& what, const std::exception& error);

}  // namespace iocomp::formats::bp
