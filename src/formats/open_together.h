// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "base/descriptor.h"
#include "mpi/wait.h"

namespace iocomp::formats {

/// Create `path` on the first of `writers` and open it for writing on the others: what a library
/// would do next inside a collective call, where one rank that fails could leave the others
/// waiting. Collective over `writers`.
/// @param wait      how to wait for the others.
/// @param is_there  it is there already, and keeps what it has.
/// @return a descriptor to fsync and to ask for the cause of a short write.
/// @throws Error{storage_failure} on all writers or on none, with the errno text of the first that
/// failed.
[[nodiscard]] Descriptor open_together(const std::string& path, MPI_Comm writers,
                                       const mpi::WaitPolicy& wait, bool is_there = false);

/// Open a file that is there already, but empty, or is not: others may have opened it, so it is not
/// made anew. Local.
/// @param access  O_RDWR or O_WRONLY.
/// @throws Error{storage_failure}.
[[nodiscard]] Descriptor open_beside_others(const std::string& path, int access);

/// Fail on all writers if one of them has a failure to tell (`errno_value` not 0). Collective over
/// `writers`.
/// @throws Error{storage_failure} "cannot ACTION PATH: TEXT (on writer 2)".
void agree_on_errno(int errno_value, const std::string& action, const std::string& path,
                    MPI_Comm writers, const mpi::WaitPolicy& wait);

}  // namespace iocomp::formats
