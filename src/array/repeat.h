// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "array/copy_run.h"

namespace iocomp::array {

/// Fill memory with one element over and over. @pre it has room for whole elements.
inline void repeat(std::span<const std::byte> element, std::span<std::byte> memory) noexcept {
  for (std::size_t at = 0; at < memory.size(); at += element.size()) {
    copy_run(memory.data() + at, element.data(), element.size());
  }
}

}  // namespace iocomp::array
