// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>

namespace iocomp::array {

/// Copy one run. A run of one element is a move of constant size here, and a call of some ten
/// nanoseconds otherwise.
inline void copy_run(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 1:
      *to = *from;
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 16:
      std::memcpy(to, from, 16);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

}  // namespace iocomp::array
