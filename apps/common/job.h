// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "common/client_options.h"
#include "common/mistake.h"
#include "common/session.h"

namespace iocomp::apps {

/// Exit code of a job that has stopped before its end, and left a checkpoint to go on from.
inline constexpr int more_to_do = 3;

/// The result of a client.
struct Outcome {
  nlohmann::json result{};
  int exit_code = 0;
};

/// One job of a client: a session, unless it is a plain one; on its compute ranks `body`; then the
/// first of them prints the result and writes it, with the settings in force. Collective over
/// MPI_COMM_WORLD.
/// @param settings  of the program, as TOML.
/// @param body   gets the session, null in a plain job, and the ranks that compute. What it reads
/// and writes must be closed when it returns.
/// @param print  a few lines for people.
/// @return the exit code of `body`.
/// @throws what `body` throws; a Mistake on the first compute rank alone, while the others wait for
/// the end of the job.
int run_job(const ClientOptions& options, const std::string& settings,
            const std::function<Outcome(const Session*, MPI_Comm)>& body,
            const std::function<void(const nlohmann::json&)>& print);

}  // namespace iocomp::apps
