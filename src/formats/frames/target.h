// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "base/spares.h"
#include "compress/bench.h"
#include "formats/format.h"
#include "formats/frames/frame.h"
#include "formats/frames/index.h"
#include "formats/packed_writer.h"
#include "mpi/wait.h"

namespace iocomp::formats::frames {

/// A file of one step whose parts are frames of Zstandard. Each writer compresses what it has, in
/// frames of a chunk at most, and writes them where nobody else writes; no values change hands. The
/// first writer ends the file with the index of all frames.
class FrameTarget : public StepTarget {
 public:
  /// Collective over `writers`.
  FrameTarget(const Path& path, const FormatOptions& options, MPI_Comm writers);

  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  Compressed write_step(std::int64_t step, const Description& description) override;
  void forget_step() noexcept override { parts_.clear(); }
  void finish(const Description& description) override;

 private:
  struct Part {  // what one frame will hold
    Variable variable;
    Selection selection;
    std::span<const std::byte> bytes;
  };
  [[nodiscard]] std::vector<std::size_t> ends_of_rounds() const;
  void pack(const Part& part, Packed& to);
  void note(const Part& part, const Packed& packed, std::int64_t offset);
  void agree(const Outcome& mine) const;
  void sync() const;

  std::string path_;
  FormatOptions options_;
  MPI_Comm writers_;
  mpi::WaitPolicy policy_;
  int rank_ = 0;
  Descriptor file_;
  PackedWriter packed_;
  Spares<compress::Bench> benches_;
  std::vector<Part> parts_;
  Index index_;           // of this writer's frames
  std::int64_t end_ = 0;  // of the file; the same on all writers
  Compressed done_;
};

}  // namespace iocomp::formats::frames
