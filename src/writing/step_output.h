// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/error.h"
#include "contents/description.h"
#include "formats/format.h"
#include "writing/output.h"
#include "writing/physical_file.h"
#include "writing/piece.h"

namespace iocomp::writing {

/// A file whose library writes whole steps, one after the other. A chunk has ended when the library
/// knows of it. It keeps its memory until its step is written or given up.
class StepOutput : public Output {
 public:
  explicit StepOutput(PhysicalFile& file) : file_{file} {}

  void write(Chunk chunk) override;
  /// The chunks of a step are all given. Called before `write_step`.
  /// @param number  of the step in the physical file.
  void begin_step(std::int64_t number, contents::Description description);
  /// Write them. Collective over the writers of the file. Any thread may do it, while nothing else
  /// is asked of the file.
  /// @throws Error{storage_failure}.
  void write_step();
  /// Called afterwards, whatever became of the step: its memory is free. @return what became of it.
  [[nodiscard]] Outcome end_step(Outcome written);
  /// A step is over: it was written or given up.
  void forget(std::int64_t step);
  /// Bytes of staging memory that are kept for the steps that are wanted.
  [[nodiscard]] std::size_t kept_bytes(const std::function<bool(std::int64_t)>& is_wanted) const;

 private:
  [[nodiscard]] std::int64_t given_bytes() const;

  PhysicalFile& file_;
  std::vector<Chunk> kept_;
  std::int64_t begun_ = -1;                // the step that the library has begun; -1: none
  formats::StepTarget* target_ = nullptr;  // it is written there
  std::int64_t number_ = 0;                // with that number
  contents::Description description_;
  formats::Compressed compressed_;  // of the step that was written last
};

}  // namespace iocomp::writing
