// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "base/scratch_memory.h"

namespace iocomp::compress {

/// The memory and state with which one thread compresses one thing after the other. What lies in it
/// is valid until it is used again.
struct Bench {
  ScratchMemory shuffled;
  ScratchMemory packed;
  std::shared_ptr<void> tables;  ///< of Zstandard: to make them anew takes longer than many a chunk
};

}  // namespace iocomp::compress
