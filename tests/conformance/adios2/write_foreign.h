// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iocomp::tests {

/// Write a dataset as other programs do, with variables that iocomp does not read.
void write_foreign(const std::string& path, const std::string& engine);

}  // namespace iocomp::tests
