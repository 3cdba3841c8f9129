// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/huge_memory.h"
#include "common/job.h"
#include "common/program.h"
#include "common/ranks.h"
#include "hpcg/benchmark.h"
#include "hpcg/checks.h"
#include "hpcg/report.h"

namespace iocomp::apps::hpcg {
namespace {

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

Outcome compute(const Options& options, const Session* session, MPI_Comm comm) {
  refuse_contradictions(options);
  Multigrid multigrid{options.grid(rank_in(comm), size_of(comm)), comm, options.format,
                      options.alloc ? session : nullptr};
  warm_free_memory(options.warm_bytes);
  nlohmann::json checks;
  if (options.checks) checks = checked(multigrid, comm);
  Benchmark benchmark{options, session, comm, multigrid};
  const Measurement measurement = benchmark.run();
  Outcome outcome{report(options, comm, multigrid, measurement, benchmark.timers()),
                  measurement.is_stopped ? more_to_do : 0};
  if (options.checks) outcome.result["checks"] = checks;
  if (options.verify) {
    benchmark.verify();
    outcome.result["file_verified"] = true;
  }
  return outcome;
}

int run(const Options& options) {
  return run_job(
      options, options.toml(),
      [&](const Session* session, MPI_Comm comm) { return compute(options, session, comm); },
      print);
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
