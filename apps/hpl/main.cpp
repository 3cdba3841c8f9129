// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/huge_memory.h"
#include "common/job.h"
#include "common/program.h"
#include "common/ranks.h"
#include "hpl/benchmark.h"
#include "hpl/blas.h"
#include "hpl/report.h"

namespace iocomp::apps::hpl {
namespace {

Outcome compute(const Options& options, const Session* session, MPI_Comm comm) {
  options.refuse_contradictions();
  const GridShape shape = options.grid_shape(size_of(comm));
  options.refuse_bad_sizes(comm, shape);
  const ProcessGrid grid{comm, shape};
  warm_free_memory(options.warm_bytes);
  Benchmark benchmark{options, session, comm, grid};
  const Measurement measurement = benchmark.run();
  Outcome outcome{report(options, comm, shape, measurement),
                  measurement.is_stopped ? more_to_do : 0};
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
}  // namespace iocomp::apps::hpl

int main(int argc, char** argv) {
  iocomp::apps::hpl::prepare_blas(argv);
  iocomp::apps::hpl::Options options;
  CLI::App app{"HPL that writes its solutions or its factors while it runs", "hpl"};
  iocomp::apps::hpl::declare(app, options);
  return iocomp::apps::run_program(argc, argv, app,
                                   [&] { return iocomp::apps::hpl::run(options); });
}
