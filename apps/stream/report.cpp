// SPDX-License-Identifier: BSD-3-Clause
#include "stream/report.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/ranks.h"

namespace iocomp::apps::stream {
namespace {

// Arrays that a kernel reads or writes, as STREAM counts them.
constexpr std::array arrays_touched{2, 2, 3, 3};
constexpr double gib = 1024.0 * 1024.0 * 1024.0;

double sum(const std::vector<double>& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

double sum_of_writing_loops(const Options& options, const std::vector<double>& seconds) {
  double total = 0;
  for (int loop = 0; loop < options.loops; ++loop) {
    if (options.writes_in(loop)) total += seconds[static_cast<std::size_t>(loop)];
  }
  return total;
}

// As STREAM does, the first loop does not count, unless it is the only one.
double shortest(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end());
}

nlohmann::json compute_seconds(const Options& options, const Measurement& measurement) {
  nlohmann::json all;
  nlohmann::json writing;
  nlohmann::json best;
  double total = 0;
  for (std::size_t kernel = 0; kernel < kernel_count; ++kernel) {
    const std::vector<double>& seconds = measurement.kernels[kernel];
    all[kernel_names[kernel]] = sum(seconds);
    writing[kernel_names[kernel]] = sum_of_writing_loops(options, seconds);
    best[kernel_names[kernel]] = shortest(seconds);
    total += sum(seconds);
  }
  return {{"compute_seconds", total},
          {"kernel_seconds", all},
          {"kernel_seconds_in_writing_loops", writing},
          {"kernel_best_seconds", best}};
}

nlohmann::json output_seconds(const Measurement& measurement) {
  const OutputTimers& timers = measurement.output;
  return {{"open_seconds", timers.open.seconds()},
          {"send_seconds", timers.send.seconds()},
          {"wait_seconds", timers.wait.seconds()},
          {"progress_seconds", timers.progress.seconds()},
          {"close_seconds", timers.close.seconds()},
          {"inside_iocomp_seconds", timers.inside_seconds()},
          {"wall_until_last_call_seconds", measurement.until_last_call},
          {"wall_until_durable_seconds", measurement.until_durable}};
}

}  // namespace

nlohmann::json report(const Options& options, MPI_Comm comm, const Measurement& measurement) {
  nlohmann::json seconds = compute_seconds(options, measurement);
  seconds.update(output_seconds(measurement));
  seconds = max_over(comm, seconds);

  const int ranks = size_of(comm);
  nlohmann::json bandwidth;
  for (std::size_t kernel = 0; kernel < kernel_count; ++kernel) {
    const double bytes =
        static_cast<double>(options.elements() * sizeof(double)) * arrays_touched[kernel] * ranks;
    bandwidth[kernel_names[kernel]] =
        bytes / gib / seconds["kernel_best_seconds"][kernel_names[kernel]].get<double>();
  }
  const std::size_t steps = options.plain ? 0 : static_cast<std::size_t>(options.writing_loops());
  nlohmann::json result{{"program", "stream"},
                        {"plain", options.plain},
                        {"pattern", options.pattern == Pattern::stream ? "stream" : "index"},
                        {"progress_calls", options.progress && !options.plain},
                        {"compute_ranks", ranks},
                        {"bytes_per_array_and_rank", options.elements() * sizeof(double)},
                        {"loops", options.loops},
                        {"write_every", options.write_every},
                        {"in_turn", options.in_turn},
                        {"steps", steps},
                        {"bytes_written", steps * options.arrays_put() * options.elements() *
                                              sizeof(double) * static_cast<std::size_t>(ranks)},
                        {"best_bandwidth_gib_per_second", bandwidth}};
  result.update(seconds);
  return result;
}

void print(const nlohmann::json& result) {
  std::cout << std::fixed << std::setprecision(3)
            << "kernel    best GiB/s     total s   in writing loops s\n";
  for (const char* const name : kernel_names) {
    std::cout << std::left << std::setw(8) << name << std::right << std::setw(12)
              << result["best_bandwidth_gib_per_second"][name].get<double>() << std::setw(12)
              << result["kernel_seconds"][name].get<double>() << std::setw(14)
              << result["kernel_seconds_in_writing_loops"][name].get<double>() << '\n';
  }
  std::cout << "compute " << result["compute_seconds"].get<double>() << " s, send "
            << result["send_seconds"].get<double>() << " s, wait "
            << result["wait_seconds"].get<double>() << " s, inside iocomp "
            << result["inside_iocomp_seconds"].get<double>() << " s\n"
            << "wall until last call " << result["wall_until_last_call_seconds"].get<double>()
            << " s, until durable " << result["wall_until_durable_seconds"].get<double>() << " s, "
            << result["bytes_written"].get<double>() / gib << " GiB written\n";
}

}  // namespace iocomp::apps::stream
