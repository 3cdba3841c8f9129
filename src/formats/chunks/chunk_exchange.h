// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "formats/chunks/chunk_parts.h"
#include "mpi/wait.h"

namespace iocomp::formats {

/// The parts that came from other writers, with the memory that they lie in; or why they cannot be
/// used.
struct Arrived {
  Outcome outcome;
  std::vector<ChunkPart> parts;
  std::vector<std::vector<std::byte>> memory;
};

/// Send parts of chunks to other writers, from where they lie, and take in theirs. Collective over
/// `writers`; waits asleep.
/// @param leaving  the parts that go to each writer; none for this one.
/// @throws on all writers or on none.
[[nodiscard]] Arrived exchange(const StepChunks& chunks,
                               const std::vector<std::vector<const ChunkPart*>>& leaving,
                               MPI_Comm writers, const mpi::WaitPolicy& policy);

}  // namespace iocomp::formats
