// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/clock.h"
#include "config/settings.h"
#include "disk/options.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::session {

/// The configuration of a session, the same on all ranks.
struct Configuration {
  config::Settings settings;
  mpi::WaitPolicy policy{mpi::usual_deadline_seconds};
  disk::Options disk;
  std::string job;               ///< "<host>-<pid>" of the first rank
  double begin = now_seconds();  ///< of the session
};

/// Rank 0 reads the sources and all ranks get the result; the log gets its level. Collective over
/// `all`.
/// @throws Error{inconsistent_calls, invalid_setting}, the same on all ranks.
[[nodiscard]] Configuration read_configuration(const mpi::Communicator& all,
                                               const std::string& program_settings);

/// Tell the log what this rank is called: "rank 3", "server 0".
void name_in_log(const config::Settings& settings, const std::string& name);

}  // namespace iocomp::session
