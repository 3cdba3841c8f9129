// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/scratch_memory.h"
#include "base/spares.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/extent.h"
#include "formats/format.h"
#include "formats/packed_writer.h"
#include "formats/words.h"
#include "mpi/wait.h"

namespace iocomp::formats {

/// A chunk in the file.
struct StoredChunk {
  std::int64_t chunk = 0;  ///< in the step
  Extent where;
};

/// Makes what lies in the file of a chunk. Called in any thread, beside others.
/// @param whole  its elements, which stay where they are until the chunk is written.
using Encode =
    std::function<void(const Variable& variable, std::span<const std::byte> whole, Packed& to)>;

/// The file as one writer writes it.
struct ChunkOutput {
  PackedWriter& writer;
  Encode encode;                   ///< none: chunks lie in the file as they are
  Spares<ScratchMemory>& scratch;  ///< where they are put together
  MPI_Comm writers;
  const mpi::WaitPolicy& policy;
  Compressed& compressed;      ///< what was encoded is added to it
  bool first_has_all = false;  ///< the first writer writes all chunks; else who has most of each
};

/// Bring the chunks of a step together, encode and write them. What nobody has put of a chunk has
/// the fill value. Collective.
/// @param own  what this writer has of them.
/// @param end  of the file, before and after; the same on all writers.
/// @return the chunks of this writer.
/// @throws Error{storage_failure} with the first failure, on all writers or on none.
[[nodiscard]] std::vector<StoredChunk> write_chunks(const StepChunks& chunks,
                                                    const std::vector<ChunkPart>& own,
                                                    const ChunkOutput& to, std::int64_t& end);

}  // namespace iocomp::formats
