// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace iocomp::formats {

/// The writers of a file. A struct, so that who does not write knows its name alone: format.h needs
/// no MPI.
struct Communicator {
  MPI_Comm raw;
};

}  // namespace iocomp::formats
