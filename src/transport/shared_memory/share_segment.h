// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "mpi/wait.h"
#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {

/// Names those who are waited for while a segment is made.
inline constexpr const char* others_of_node = "the other ranks of the node in iocomp_init";

/// Memory that all processes of a node have mapped, as one of them sees it.
struct NodeSegment {
  SharedMapping mapping;
  std::size_t self = 0;         ///< number of this process on the node
  std::size_t processes = 1;    ///< number of processes of the node
  bool knows_processes = true;  ///< true if all see one another under their process ids
  std::string kind;             ///< "memfd", "shm"
};

/// Make and map a segment of `bytes`, unlinked when this returns. Collective over `node`, as is the
/// failure.
/// @param segment  "auto", "memfd" or "shm" (test.segment).
/// @throws Error{out_of_staging_memory} or {unsupported}, on all ranks of the node.
[[nodiscard]] NodeSegment share_segment(MPI_Comm node, std::size_t bytes,
                                        SharedMapping::Pages pages, const std::string& segment,
                                        const mpi::WaitPolicy& policy);

}  // namespace iocomp::transport
