// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/report.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/ranks.h"
#include "hpl/blas.h"

namespace iocomp::apps::hpl {
namespace {

constexpr double giga = 1.0e9;

/// The operations that HPL counts.
double operations(std::int64_t size) {
  const auto n = static_cast<double>(size);
  return (2.0 / 3.0 * n + 1.5) * n * n;
}

std::vector<double> max_of_each(MPI_Comm comm, std::vector<double> seconds) {
  for (double& one : seconds) one = max_over(comm, one);
  return seconds;
}

nlohmann::json seconds_of(const Measurement& measurement) {
  const KernelTimers& kernels = measurement.kernels;
  nlohmann::json seconds = apps::seconds_of(measurement.io);
  seconds.update({{"loop_seconds", measurement.loop_seconds},
                  {"compute_seconds", measurement.compute_seconds},
                  {"cpu_seconds", measurement.cpu_seconds},
                  {"kernel_seconds",
                   {{"generate", kernels.generate.seconds()},
                    {"factor", kernels.factor.seconds()},
                    {"solve", kernels.solve.seconds()},
                    {"check", kernels.check.seconds()}}},
                  {"wall_until_durable_seconds", measurement.until_durable}});
  return seconds;
}

}  // namespace

nlohmann::json report(const Options& options, MPI_Comm comm, const GridShape& grid,
                      const Measurement& measurement) {
  const nlohmann::json seconds = max_over(comm, seconds_of(measurement));
  const std::vector<double> loops = max_of_each(comm, measurement.loop_seconds_of_each);
  const std::vector<double> solved = max_of_each(comm, measurement.hpl_seconds);
  const double in_all = std::accumulate(solved.begin(), solved.end(), 0.0);
  const double count = static_cast<double>(solved.size());
  const Restarted& restarted = measurement.restarted;
  nlohmann::json result{
      {"program", "hpl"},
      {"plain", options.plain},
      {"compute_ranks", size_of(comm)},
      {"grid", {grid.rows, grid.columns}},
      {"size", options.size},
      {"block", options.block},
      {"seed", options.seed},
      {"output", options.plain ? "none" : name_of(options.put)},
      {"progress_calls", options.progress && !options.plain},
      {"repetitions", solved.size()},
      {"restarted_at", restarted.repetitions},
      {"stopped", measurement.is_stopped},
      {"residuals", measurement.residuals},
      {"residual_passed", true},  // else the run has failed
      {"operations", operations(options.size)},
      {"loop_seconds_by_repetition", loops},
      {"hpl_seconds_by_repetition", solved},
      {"hpl_seconds", in_all},
      {"gflop_per_second", count > 0 ? operations(options.size) / giga * count / in_all : 0.0},
      {"checkpoints", measurement.checkpoints},
      {"bytes_written", measurement.bytes},
      {"blas", about_blas()}};
  if (restarted.repetitions >= 0) {
    result["restart"] = {{"residual", restarted.residual},
                         {"solved_residual", restarted.solved_residual}};
  }
  result.update(seconds);
  return result;
}

void print(const nlohmann::json& result) {
  const auto number = [&](const char* key) { return result[key].get<double>(); };
  const nlohmann::json& residuals = result["residuals"];
  const nlohmann::json& blas = result["blas"];
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  std::cout << "N " << result["size"] << ", NB " << result["block"] << ", grid "
            << result["grid"][0] << " x " << result["grid"][1] << ", " << result["repetitions"]
            << " repetitions, BLAS for " << blas["core"].get<std::string>();
  if (!residuals.empty()) {
    std::cout << ", largest scaled residual " << std::setprecision(3)
              << std::max_element(residuals.begin(), residuals.end())->get<double>();
  }
  std::cout << std::fixed << std::setprecision(3) << "\ncompute " << number("compute_seconds")
            << " s, send " << number("send_seconds") << " s, wait " << number("wait_seconds")
            << " s, loop " << number("loop_seconds") << " s, until durable "
            << number("wall_until_durable_seconds") << " s\n"
            << number("gflop_per_second") << " GFLOP/s, " << number("bytes_written") / gib
            << " GiB of output, " << result["checkpoints"] << " checkpoints\n";
}

}  // namespace iocomp::apps::hpl
