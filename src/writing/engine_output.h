// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "writing/output.h"
#include "writing/physical_file.h"
#include "writing/piece.h"
#include "writing/submit.h"

namespace iocomp::writing {

/// A plain file. Chunks become plans of the disk engine; small ones share a plan, its writes and
/// its answer. This is the one place that decides at which offset a byte of a plain file goes.
class EngineOutput : public Output {
 public:
  EngineOutput(PhysicalFile& file, Submit submit) : file_{file}, submit_{std::move(submit)} {}

  void write(Chunk chunk) override;
  void submit() override;

 private:
  PhysicalFile& file_;
  Submit submit_;
  std::vector<Chunk> gathered_;
  std::size_t gathered_bytes_ = 0;
};

}  // namespace iocomp::writing
