// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/huge_memory.h"
#include "common/job.h"
#include "common/program.h"
#include "common/ranks.h"
#include "stream/benchmark.h"
#include "stream/iocomp_output.h"
#include "stream/report.h"
#include "stream/verify.h"

namespace iocomp::apps::stream {
namespace {

std::int64_t global_elements(const Options& options, MPI_Comm comm) {
  const std::int64_t global = static_cast<std::int64_t>(options.elements()) * size_of(comm);
  constexpr std::int64_t exact = std::int64_t{1} << 53U;  // integers up to here are doubles
  if (options.pattern == Pattern::index && global > exact / (4 * options.loops + 1)) {
    throw Mistake("--pattern index needs elements * (4 * loops + 1) below 2^53; there are " +
                  std::to_string(global) + " elements");
  }
  return global;
}

/// Collective over `comm`. @return whether the file holds what it should.
bool verified(const Options& options, const Session& session, std::int64_t global) {
  int good = 1;
  if (rank_in(session.comm()) == 0) {
    const std::string own = session.setting("files.stream.path");
    const std::string path = own.empty() ? session.setting("files.default.path") : own;
    good = verify(options, path, static_cast<std::size_t>(global)) ? 1 : 0;
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, session.comm());
  return good != 0;
}

Outcome compute(const Options& options, const Session* session, MPI_Comm comm) {
  const std::int64_t global = global_elements(options, comm);
  const std::int64_t first = static_cast<std::int64_t>(options.elements()) * rank_in(comm);
  Arrays arrays{
      options.pattern,        options.alloc ? session : nullptr, options.elements(), first, global,
      options.in_turn ? 2 : 1};
  warm_free_memory(options.warm_bytes);
  const Measurement measurement = measure(options, comm, arrays, [&] {
    return session != nullptr
               ? std::make_unique<IocompOutput>(*session, static_cast<std::int64_t>(arrays.size()),
                                                options.in_turn ? scale_b : copy_c)
               : nullptr;
  });

  Outcome outcome{report(options, comm, measurement)};
  const std::string mistake = arrays.mistake();
  if (!mistake.empty()) throw std::runtime_error("the arrays are wrong: " + mistake);
  outcome.result["arrays_checked"] = true;
  if (session != nullptr && options.verify) {
    const bool good = verified(options, *session, global);
    outcome.result["file_verified"] = good;
    outcome.exit_code = good ? 0 : 1;
  }
  return outcome;
}

int run(const Options& options) {
  return run_job(
      options, options.toml("stream"),
      [&](const Session* session, MPI_Comm comm) { return compute(options, session, comm); },
      print);
}

}  // namespace
}  // namespace iocomp::apps::stream

int main(int argc, char** argv) {
  iocomp::apps::stream::Options options;
  CLI::App app{"STREAM whose arrays are written while it runs", "stream"};
  iocomp::apps::stream::declare(app, options);
  return iocomp::apps::run_program(argc, argv, app,
                                   [&] { return iocomp::apps::stream::run(options); });
}
