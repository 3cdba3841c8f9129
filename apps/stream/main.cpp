// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "common/huge_memory.h"
#include "common/program.h"
#include "common/ranks.h"
#include "common/result.h"
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
    throw std::runtime_error(
        "--pattern index needs elements * (4 * loops + 1) below 2^53; there are " +
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

int run(const Options& options) {
  std::optional<Session> session;
  if (!options.plain) session.emplace(options.toml());
  if (session && session->is_server()) return session->finalize(), 0;  // server.returns = true
  const MPI_Comm comm = session ? session->comm() : MPI_COMM_WORLD;

  const std::int64_t global = global_elements(options, comm);
  const std::int64_t first = static_cast<std::int64_t>(options.elements()) * rank_in(comm);
  Arrays arrays{options.pattern, options.alloc && session ? &*session : nullptr, options.elements(),
                first, global};
  warm_free_memory(options.warm_bytes);
  const Measurement measurement = measure(options, comm, arrays, [&] {
    return session
               ? std::make_unique<IocompOutput>(*session, static_cast<std::int64_t>(arrays.size()))
               : nullptr;
  });

  nlohmann::json result = report(options, comm, measurement);
  const bool tells = rank_in(comm) == 0;  // the first of all ranks may serve
  const std::string mistake = arrays.mistake_after(options.loops);
  if (!mistake.empty()) throw std::runtime_error("the arrays are wrong: " + mistake);
  result["arrays_checked"] = true;
  bool good = true;
  if (session) {
    result["settings"] = session->settings();
    if (options.verify) result["file_verified"] = good = verified(options, *session, global);
    session->finalize();
  }
  if (tells) {
    if (options.json != "-") print(result);
    write_result(options.json, result);
  }
  return good ? 0 : 1;
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
