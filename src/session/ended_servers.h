// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace iocomp::session {

/// Servers serve one session, unless `server.end` is "return": note them for the sessions that
/// come.
/// @param servers  group of processes.
void note_servers_of_one_session(MPI_Group servers);

/// A communicator for a new session must have none of them: nobody there would answer.
/// @throws Error{invalid_argument} that names one.
void check_that_nobody_served(MPI_Comm comm);

}  // namespace iocomp::session
