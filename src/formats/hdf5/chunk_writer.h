// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/scratch_memory.h"
#include "base/spares.h"
#include "formats/format.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/chunk_parts.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/packed_writer.h"
#include "mpi/wait.h"

namespace iocomp::formats::h5 {

/// A filtered chunk in the file.
struct StoredChunk {
  std::int64_t chunk = 0;  ///< in the step
  Extent where;
};

/// What one thread needs for one chunk after the other.
struct ChunkBench {
  ChunkFilter filter;
  ScratchMemory chunk;
};

/// The file as one writer writes it.
struct ChunkOutput {
  PackedWriter& writer;
  Spares<ChunkBench>& benches;
  MPI_Comm writers;
  const mpi::WaitPolicy& policy;
  Compressed& compressed;  ///< is added to
};

/// Bring the chunks of a step together, filter and write them. What nobody has put of a chunk has
/// the fill value. Collective.
/// @param own  what this writer has of them.
/// @param end  of the file, before and after; the same on all writers.
/// @return the chunks of this writer.
/// @throws Error{storage_failure} with the first failure, on all writers or on none.
[[nodiscard]] std::vector<StoredChunk> write_chunks(const StepChunks& chunks,
                                                    const std::vector<ChunkPart>& own,
                                                    const ChunkOutput& to, std::int64_t& end);

}  // namespace iocomp::formats::h5
