// SPDX-License-Identifier: BSD-3-Clause
#include "client/opened_file.h"

#include <mpi.h>

namespace iocomp::client {

void OpenedFile::free_communicators() {
  for (MPI_Comm* own : {&openers, &rows_comm, &comm}) {
    if (*own != MPI_COMM_NULL) {
      MPI_Comm_free(own);
    }
  }
}

}  // namespace iocomp::client
