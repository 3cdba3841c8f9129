// SPDX-License-Identifier: BSD-3-Clause
#include "client/opened_file.h"

#include <mpi.h>

#include <string>

#include "commit/file_terms.h"
#include "commit/publication.h"
#include "mpi/handle.h"

namespace iocomp::client {

commit::Publication::Identity OpenedFile::identity(const std::string& job) const {
  auto identity = commit::identity(file->name(), settings, job);
  identity.folder = folder;
  identity.held = held;
  identity.after = after;
  return identity;
}

void OpenedFile::free_communicators() {
  for (MPI_Comm* own : {&openers, &rows_comm, &comm}) {
    mpi::CommunicatorKind::free(*own);
  }
}

}  // namespace iocomp::client
