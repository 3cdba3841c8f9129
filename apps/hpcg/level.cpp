// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/level.h"

namespace iocomp::apps::hpcg {

Level::Level(const Grid& grid, MPI_Comm comm, Format format, const Session* session)
    : grid_{grid},
      halo_{grid, comm},
      matrix_{grid, halo_, session},
      operator_{make_operator(format, matrix_, grid.local()[0])} {}

}  // namespace iocomp::apps::hpcg
