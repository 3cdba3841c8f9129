// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

namespace iocomp::api {

/// The options of the program for one call of open.
struct OpenOptions {
  /// @param given  null: nothing.
  /// @throws Error{invalid_argument} for a communicator that is none.
  OpenOptions(const iocomp_open_options* given, const char* call);

  std::string settings;
  MPI_Comm comm = MPI_COMM_NULL;  ///< all compute ranks
  std::optional<std::int64_t> after;
};

}  // namespace iocomp::api
