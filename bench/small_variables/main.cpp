// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/one_file.h"
#include "common/ranks.h"
#include "common/session.h"

namespace iocomp::bench {
namespace {

struct Options {
  int variables = 500;
  int elements = 64;  // of each rank in an array; every second variable is a scalar
  int steps = 20;
};

struct Variable {
  iocomp_var* handle = nullptr;
  bool is_scalar = false;
};

std::vector<Variable> define(const Options& options, iocomp_file* file, int ranks) {
  std::vector<Variable> variables;
  const std::int64_t shape = std::int64_t{options.elements} * ranks;
  for (int i = 0; i < options.variables; ++i) {
    Variable one;
    one.is_scalar = i % 2 == 0;
    apps::check(iocomp_define(file, ("v" + std::to_string(i)).c_str(), IOCOMP_FLOAT64,
                              one.is_scalar ? 0 : 1, &shape, &one.handle),
                "iocomp_define");
    variables.push_back(one);
  }
  return variables;
}

nlohmann::json measure(const Options& options, const apps::Session& session) {
  MPI_Comm comm = session.comm();
  const int rank = apps::rank_in(comm);
  iocomp_file* file = nullptr;
  apps::check(iocomp_open(session.handle(), "small", IOCOMP_SERIES, nullptr, &file), "iocomp_open");
  const auto variables = define(options, file, apps::size_of(comm));
  const std::vector<double> values(static_cast<std::size_t>(options.elements), 1.0);
  const std::int64_t count = options.elements;
  const std::int64_t start = count * rank;
  double call_seconds = 0;
  MPI_Barrier(comm);
  const double began = MPI_Wtime();
  for (int step = 0; step < options.steps; ++step) {
    const double step_began = MPI_Wtime();
    for (const auto& one : variables) {
      if (!one.is_scalar || rank == 0) {
        apps::check(iocomp_put(one.handle, &start, &count, values.data(), nullptr), "iocomp_put");
      }
    }
    apps::check(iocomp_end_step(file), "iocomp_end_step");
    call_seconds += MPI_Wtime() - step_began;
  }
  apps::check(iocomp_close(file), "iocomp_close");
  const double all = apps::max_over(comm, MPI_Wtime() - began);
  const double count_of_all = static_cast<double>(options.steps) * options.variables;
  return {{"program", "small_variables"},
          {"ranks", apps::size_of(comm)},
          {"variables", options.variables},
          {"call_seconds_per_variable", apps::max_over(comm, call_seconds) / count_of_all},
          {"wall_seconds_per_variable", all / count_of_all}};
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::Options options;
  iocomp::bench::OneFile file{.name = "small", .path = "small_variables.dat", .mode = "async"};
  CLI::App app{"What a small variable costs in each step", "small_variables"};
  app.add_option("--variables", options.variables, "of the file")->check(CLI::PositiveNumber);
  app.add_option("--elements", options.elements, "of a rank in an array");
  app.add_option("--steps", options.steps, "how many");
  return iocomp::bench::run_with(argc, argv, app, file, [&](const auto& session) {
    return iocomp::bench::measure(options, session);
  });
}
