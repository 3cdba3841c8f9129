// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "formats/opening.h"
#include "mpi/wait.h"

namespace iocomp::formats {

/// Create `path` on the first of `writers` and open it for writing on the others. A library would
/// do that inside a collective call, where one rank that fails could leave the others waiting. So a
/// process must also be able to open some more. Collective over `writers`.
/// @param wait      how to wait for the others.
/// @param is_there  the file exists and keeps its contents.
/// @return a descriptor to fsync, to ask for the cause of a short write, and to open again
/// (`name_of`) by a library.
/// @throws Error{storage_failure} on all writers or on none, with the errno text of the first that
/// failed.
[[nodiscard]] Descriptor open_together(const Path& path, MPI_Comm writers,
                                       const mpi::WaitPolicy& wait, bool is_there = false);

/// Open a physical file. Local. @param access  O_RDWR or O_WRONLY. @throws Error{storage_failure}.
[[nodiscard]] Descriptor open_physical(const Path& path, Opening opening, int access);

/// Make the folder of a dataset, in the place of what has its name. Local.
/// @throws Error{storage_failure}.
void make_folder(const Path& path);

/// Fail on all writers if one of them has. Collective over `writers`.
/// @throws Error of the first of them, with "(on writer 2)" behind its story.
void agree_on(Outcome mine, MPI_Comm writers, const mpi::WaitPolicy& wait);

}  // namespace iocomp::formats
