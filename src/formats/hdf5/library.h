// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iocomp::formats::h5 {

/// The HDF5 that this process has given to the module: "HDF5 1.10.8".
/// @throws Error{unsupported} naming its file, where it is of another release than the one that the
/// module was built with: both have the same functions, with other arguments.
[[nodiscard]] std::string library_version();

}  // namespace iocomp::formats::h5
