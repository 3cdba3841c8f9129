// SPDX-License-Identifier: BSD-3-Clause
#include "api/open_options.h"

#include <iocomp/iocomp.h>
#include <mpi.h>

#include <string>

#include "api/guard.h"
#include "base/error.h"

namespace iocomp::api {

OpenOptions::OpenOptions(const iocomp_open_options* given, const char* call) {
  if (given == nullptr) {
    return;
  }
  const auto told = struct_of(given, call, "iocomp_open_options");
  if (told.settings != nullptr) {
    settings = told.settings;
  }
  if (told.comm != nullptr) {
    comm = *told.comm;
    if (comm == MPI_COMM_NULL) {
      throw Error{ErrorCode::invalid_argument,
                  std::string{call} +
                      ": the communicator is MPI_COMM_NULL; that of all compute ranks is what "
                      "iocomp_comm returns"};
    }
  }
  if (told.after != nullptr) {
    after = *told.after;
  }
}

}  // namespace iocomp::api
