// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace iocomp::disk {

inline constexpr std::size_t page = 4096;
inline constexpr std::size_t mib = std::size_t{1} << 20;

}  // namespace iocomp::disk
