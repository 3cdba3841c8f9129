// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "writing/piece.h"

namespace iocomp::writing {

/// Gets chunks into one physical file.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;

  /// Write a chunk, now or later; `end` is called for it. @pre its piece has not failed.
  virtual void write(Chunk chunk) = 0;
  /// Start chunks that wait to share a write.
  virtual void submit() {}
  /// True if `advance` has something to do.
  [[nodiscard]] virtual bool has_work() const { return false; }
  /// Write a part of what the calling thread has to write itself.
  virtual void advance() {}
};

}  // namespace iocomp::writing
