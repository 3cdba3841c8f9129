// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "stream/options.h"

namespace iocomp::apps::stream {

/// Have the file read back by verify.py, which knows nothing of iocomp, and every element compared.
/// Local: one rank.
/// @param path    of the file; "" means stream with any extension in the working directory.
/// @param global  elements of a variable.
/// @return true if all was as expected; the verifier prints differences.
bool verify(const Options& options, const std::string& path, std::size_t global);

}  // namespace iocomp::apps::stream
