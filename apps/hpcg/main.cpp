// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "common/huge_memory.h"
#include "common/program.h"
#include "common/ranks.h"
#include "common/result.h"
#include "hpcg/benchmark.h"
#include "hpcg/checks.h"
#include "hpcg/report.h"

namespace iocomp::apps::hpcg {
namespace {

constexpr int more_to_do = 3;

/// HPCG's tests of the preconditioner. @throws std::runtime_error when one fails.
nlohmann::json checked(Multigrid& multigrid, MPI_Comm comm) {
  const Spectral spectral = test_spectrum(multigrid, comm);
  const Symmetry symmetry = test_symmetry(multigrid, comm);
  const nlohmann::json found = report(spectral, symmetry);
  if (!spectral.passed() || !symmetry.passed()) {
    throw std::runtime_error("the spectral or the symmetry test failed: " + found.dump());
  }
  return found;
}

int run(const Options& options) {
  refuse_contradictions(options);
  std::optional<Session> session;
  if (!options.plain) session.emplace(options.toml());
  if (session && session->is_server()) return session->finalize(), 0;  // server.returns = true
  const MPI_Comm comm = session ? session->comm() : MPI_COMM_WORLD;
  const Session* const io = session ? &*session : nullptr;

  Multigrid multigrid{options.grid(rank_in(comm), size_of(comm)), comm, options.format,
                      options.alloc ? io : nullptr};
  warm_free_memory(options.warm_bytes);
  nlohmann::json checks;
  if (options.checks) checks = checked(multigrid, comm);
  Benchmark benchmark{options, io, comm, multigrid};
  const Measurement measurement = benchmark.run();
  nlohmann::json result = report(options, comm, multigrid, measurement, benchmark.timers());
  if (options.checks) result["checks"] = checks;

  const bool tells = rank_in(comm) == 0;  // the first of all ranks may serve
  if (session) {
    result["settings"] = session->settings();
    if (options.verify) {
      benchmark.verify();
      result["file_verified"] = true;
    }
    session->finalize();
  }
  if (tells) {
    if (options.json != "-") print(result);
    write_result(options.json, result);
  }
  return measurement.is_stopped ? more_to_do : 0;
}

}  // namespace
}  // namespace iocomp::apps::hpcg

int main(int argc, char** argv) {
  iocomp::apps::hpcg::Options options;
  CLI::App app{"HPCG that writes its matrix or its solution while it runs", "hpcg"};
  iocomp::apps::hpcg::declare(app, options);
  return iocomp::apps::run_program(argc, argv, app,
                                   [&] { return iocomp::apps::hpcg::run(options); });
}
