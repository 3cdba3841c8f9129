// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iocomp::formats {

/// Flags of dlopen for a module. Where another HDF5 than the modules' is visible to everything in
/// the process, a module looks for functions in the libraries that it was linked with first
/// (RTLD_DEEPBIND): HDF5's names have no versions, so it would get those of the other one.
/// @throws Error{unsupported} naming both libraries, where a malloc of the program's own (jemalloc,
/// a sanitizer) forbids that: memory from one malloc would be freed by another.
[[nodiscard]] int load_flags();

}  // namespace iocomp::formats
