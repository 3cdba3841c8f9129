// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <adios2.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "formats/format.h"

namespace iocomp::formats::bp {

/// The engines of ADIOS2 that this back-end writes with.
enum class Kind { bp4, bp5, hdf5 };

[[nodiscard]] const char* name(Kind kind) noexcept;

/// True if ADIOS2 takes two names for the same: it does not tell upper from lower case.
[[nodiscard]] bool is_same_word(std::string_view one, std::string_view other);

/// Called before an adios2::ADIOS is made, which crashes where the environment has no HOME, as in
/// batch jobs and containers: it looks for settings of the user there. It gets one, and keeps it.
void have_home();

/// The parameters for the operator of a variable.
[[nodiscard]] adios2::Params parameters_of(const Storage& storage);

/// @throws Error{invalid_setting} for an operator that this ADIOS2 does not have, or not with these
/// parameters, and for one of the engine HDF5, which has none.
void check_operators(Kind kind, const FormatOptions& options);

/// The parameters for the engine: those that iocomp needs, and the user's above its defaults.
/// @throws Error{invalid_setting} for parameters that would break what iocomp promises of a
/// committed step.
[[nodiscard]] adios2::Params parameters(Kind kind, const FormatOptions& options, int writers);

}  // namespace iocomp::formats::bp
