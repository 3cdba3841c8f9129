// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "formats/chunks/chunk_parts.h"
#include "mpi/wait.h"

namespace iocomp::formats {

/// The parts that came from other writers, with the memory that they lie in; or why they cannot be
/// used.
struct Arrived {
  using Memory = std::unique_ptr<std::byte[]>;
  Outcome outcome;
  std::vector<ChunkPart> parts;
  std::vector<Memory> memory;
};

/// Send parts of chunks to other writers, and take in theirs. Collective over
/// `writers`; waits asleep.
/// @param leaving  the parts that go to each writer; none for this one.
/// @throws on all writers or on none.
[[nodiscard]] Arrived exchange(const StepChunks& chunks,
                               const std::vector<std::vector<const ChunkPart*>>& leaving,
                               MPI_Comm writers, const mpi::WaitPolicy& policy);

}  // namespace iocomp::formats
