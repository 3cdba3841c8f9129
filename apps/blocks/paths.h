// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

namespace iocomp::apps::blocks {

/// Make a file, or every file below a directory, durable. Collective over `comm`, whose ranks may
/// sit on several nodes: each syncs its own writes.
/// @throws std::system_error naming the path.
void make_durable(MPI_Comm comm, const std::string& path);

/// Let the next read come from the disk, as far as the system obeys. Local.
void drop_from_memory(const std::string& path);

/// Remove a file or a directory, and iocomp's manifest of it. Local; nothing there is no mistake.
void remove_output(const std::string& path);

}  // namespace iocomp::apps::blocks
