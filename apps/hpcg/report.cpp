// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/report.h"

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/ranks.h"

namespace iocomp::apps::hpcg {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;
constexpr double giga = 1.0e9;

nlohmann::json seconds_of(const Measurement& measurement, const CgTimers& timers) {
  nlohmann::json seconds = apps::seconds_of(measurement.io);
  seconds.update({{"loop_seconds", measurement.loop_seconds},
                  {"compute_seconds", measurement.compute_seconds},
                  {"kernel_seconds",
                   {{"dot", timers.dot.seconds()},
                    {"waxpby", timers.waxpby.seconds()},
                    {"spmv", timers.spmv.seconds()},
                    {"multigrid", timers.multigrid.seconds()}}},
                  {"wall_until_durable_seconds", measurement.until_durable}});
  return seconds;
}

nlohmann::json in_words(const Counts& counts) {
  return {{"dot", counts.dot},
          {"waxpby", counts.waxpby},
          {"spmv", counts.spmv},
          {"multigrid", counts.multigrid},
          {"total", counts.total()}};
}

}  // namespace

nlohmann::json report(const Options& options, MPI_Comm comm, const Multigrid& multigrid,
                      const Measurement& measurement, const CgTimers& timers) {
  const nlohmann::json seconds = max_over(comm, seconds_of(measurement, timers));
  const Work work{multigrid.global_rows(), multigrid.global_nonzeros(), measurement.iterations,
                  measurement.starts};
  const Counts flops = operations(work);
  const Counts bytes = traffic_bytes(work);
  const Grid& grid = multigrid.grid();
  nlohmann::json result{
      {"program", "hpcg"},
      {"plain", options.plain},
      {"compute_ranks", size_of(comm)},
      {"grid", grid.ranks()},
      {"local", grid.local()},
      {"format", name_of(options.format)},
      {"output", options.plain ? "none" : name_of(options.put)},
      {"rows", work.rows},
      {"nonzeros", work.nonzeros},
      {"sets", options.sets},
      {"iterations_per_set", options.iterations},
      {"iterations", measurement.iterations},
      {"restarted_at", measurement.restarted_at},
      {"stopped", measurement.is_stopped},
      {"first_residual", measurement.first_norm},
      {"residuals", measurement.residuals},
      {"final_residuals", measurement.final_residuals},
      {"operations", in_words(flops)},
      {"traffic_bytes", in_words(bytes)},
      {"checkpoints", measurement.checkpoints},
      {"bytes_written", measurement.bytes},
      {"gflop_per_second", flops.total() / giga / seconds["compute_seconds"].get<double>()},
      {"effective_gib_per_second", bytes.total() / gib / seconds["loop_seconds"].get<double>()}};
  result.update(seconds);
  return result;
}

nlohmann::json report(const Spectral& spectral, const Symmetry& symmetry) {
  return {{"spectral",
           {{"plain_iterations", spectral.plain},
            {"preconditioned_iterations", spectral.preconditioned},
            {"passed", spectral.passed()}}},
          {"symmetry",
           {{"spmv", symmetry.spmv},
            {"multigrid", symmetry.multigrid},
            {"passed", symmetry.passed()}}}};
}

void print(const nlohmann::json& result) {
  const auto number = [&](const char* key) { return result[key].get<double>(); };
  std::cout << std::fixed << std::setprecision(3) << result["rows"][0] << " rows, "
            << result["nonzeros"][0] << " entries, " << result["iterations"] << " iterations";
  if (!result["residuals"].empty()) {
    std::cout << ", residual " << std::scientific << result["residuals"].back().get<double>()
              << std::fixed;
  }
  std::cout << "\ncompute " << number("compute_seconds") << " s, send " << number("send_seconds")
            << " s, wait " << number("wait_seconds") << " s, loop " << number("loop_seconds")
            << " s, until durable " << number("wall_until_durable_seconds") << " s\n"
            << number("gflop_per_second") << " GFLOP/s, effective bandwidth "
            << number("effective_gib_per_second") << " GiB/s, " << number("bytes_written") / gib
            << " GiB of output, " << result["checkpoints"] << " checkpoints\n";
}

}  // namespace iocomp::apps::hpcg
