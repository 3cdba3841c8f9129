// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>

#include "blocks/block_file.h"
#include "blocks/part.h"
#include "blocks/way.h"
#include "common/session.h"

namespace iocomp::apps::blocks {

/// Read every step of a file, each rank its box, cold or not. Collective over `comm`.
/// @param box  the box to read if all ranks share the file; else each reads its own block.
/// @return seconds of the slowest rank, the open included; 0 where the way cannot read.
[[nodiscard]] double timed_read(const Session* session, const Way& way, const Part& part,
                                const Target& target, const Box& box, MPI_Comm comm);

/// The required contents of a file.
struct ReadBack {
  const Part& part;
  const Block& global;
  std::function<Pattern(int step)> pattern;
};

/// Read every element of a file back and compare it. Where all ranks share the file, each reads a
/// slab that others wrote. Collective over the ranks of the target.
/// @return false where the way cannot read.
/// @throws std::runtime_error naming the file and the first element that is wrong.
[[nodiscard]] bool is_as_written(const Session* session, const Way& way, const ReadBack& expected,
                                 const Target& target);

}  // namespace iocomp::apps::blocks
