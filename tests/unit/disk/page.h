// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace iocomp::disk {

inline constexpr std::size_t page = 4096;

}  // namespace iocomp::disk
