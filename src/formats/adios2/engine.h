// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <adios2.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "formats/format.h"

namespace iocomp::formats::bp {

/// The engines of ADIOS2 that this back-end writes with.
enum class Kind { bp4, bp5, hdf5 };

[[nodiscard]] const char* name(Kind kind) noexcept;

/// What the engine gets: what iocomp needs and likes, and above that what the user has set.
/// @throws Error{invalid_setting} for parameters that would break what iocomp promises of a
/// committed step.
[[nodiscard]] adios2::Params parameters(Kind kind, const FormatOptions& options, int writers);

}  // namespace iocomp::formats::bp
