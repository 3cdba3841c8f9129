// SPDX-License-Identifier: BSD-3-Clause
#include "common/job.h"

#include <chrono>
#include <optional>
#include <thread>

#include "common/ranks.h"
#include "common/result.h"

namespace iocomp::apps {
namespace {

Outcome run_body(const std::function<Outcome(const Session*, MPI_Comm)>& body,
                 const Session* session, MPI_Comm comm) {
  try {
    return body(session, comm);
  } catch (const Mistake&) {
    // The rank that tells the error ends the job. If that takes longer than this, it is told again.
    if (rank_in(comm) != 0) std::this_thread::sleep_for(std::chrono::seconds{5});
    throw;
  }
}

}  // namespace

int run_job(const ClientOptions& options, const std::string& settings,
            const std::function<Outcome(const Session*, MPI_Comm)>& body,
            const std::function<void(const nlohmann::json&)>& print) {
  std::optional<Session> session;
  if (!options.plain) session.emplace(settings);
  if (session && session->is_server()) return session->finalize(), 0;  // server.end = 'return'
  const MPI_Comm comm = session ? session->comm() : MPI_COMM_WORLD;
  Outcome outcome = run_body(body, session ? &*session : nullptr, comm);
  const bool tells = rank_in(comm) == 0;  // the first of all ranks may serve
  if (session) {
    outcome.result["settings"] = session->settings();
    session->finalize();
  }
  if (tells) {
    if (options.json != "-") print(outcome.result);
    write_result(options.json, outcome.result);
  }
  return outcome.exit_code;
}

}  // namespace iocomp::apps
