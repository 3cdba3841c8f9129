// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/program.h"
#include "common/put_array.h"
#include "common/ranks.h"
#include "common/result.h"
#include "overlap/options.h"
#include "overlap/triad.h"
#include "overlap/writer.h"

namespace iocomp::bench {
namespace {

using apps::now_seconds;
using apps::Stopwatch;

using Buffers = std::array<apps::PutArray, 2>;

/// Seconds of so many compute phases without output, all ranks at it.
double compute_alone(const Options& options, const Triad& triad, const Buffers& buffers, int phases,
                     MPI_Comm comm) {
  MPI_Barrier(comm);
  const double begin = now_seconds();
  for (int step = 0; step < phases; ++step) {
    triad.run(buffers[static_cast<std::size_t>(step % 2)].data(), 3.0 + step,
              options.compute_bytes / sizeof(double));
  }
  return now_seconds() - begin;
}

/// Compute, put, compute into the other buffer, put, ...: all the time is computing or inside the
/// writer.
nlohmann::json measure_writing(const Options& options, const Triad& triad, const Buffers& buffers,
                               const apps::Session* session, MPI_Comm comm) {
  Stopwatch open;
  Stopwatch compute;
  Stopwatch put;
  Stopwatch end_step;
  Stopwatch wait;
  Stopwatch close;
  MPI_Barrier(comm);

  const double begin = now_seconds();
  const auto writer = open.time([&] { return make_writer(options, session, comm); });
  for (int step = 0; step < options.puts; ++step) {
    const apps::PutArray& u = buffers[static_cast<std::size_t>(step % 2)];
    if (writer && step >= 2) wait.time([&] { writer->wait(step - 2); });
    if (options.compute_bytes > 0) {
      if (writer) writer->begin_computing();
      compute.time(
          [&] { triad.run(u.data(), 3.0 + step, options.compute_bytes / sizeof(double)); });
      if (writer) writer->end_computing();
    }
    if (!writer) continue;
    put.time([&] { writer->put(step, u.values()); });
    end_step.time([&] { writer->end_step(); });
  }
  if (writer) close.time([&] { writer->close(); });
  const double wall = now_seconds() - begin;

  return {{"wall_until_durable_seconds", wall},
          {"compute_seconds", compute.seconds()},
          {"open_seconds", open.seconds()},
          {"put_seconds", put.seconds()},
          {"put_longest_seconds", put.longest_seconds()},
          {"end_step_seconds", end_step.seconds()},
          {"wait_seconds", wait.seconds()},
          {"close_seconds", close.seconds()}};
}

/// A machine shared with others may compute at half its speed for minutes. So the same computing
/// without output goes before and after, in equal parts.
nlohmann::json measure(const Options& options, const apps::Session* session, MPI_Comm comm) {
  const Triad triad{options.elements()};
  const apps::Session* const memory_of = options.alloc ? session : nullptr;
  const auto array = [&] {
    return options.is_ordinary ? apps::PutArray{apps::PutArray::Ordinary{}, options.elements()}
                               : apps::PutArray{memory_of, options.elements()};
  };
  const Buffers buffers{array(), array()};
  apps::warm_free_memory(options.warm_bytes);
  const bool has_pair = options.compute_bytes > 0 && options.mode != Mode::none;
  const auto alone = [&](int phases) {
    return has_pair ? compute_alone(options, triad, buffers, phases, comm) : 0.0;
  };
  const double before = alone(options.puts / 2);
  nlohmann::json result = measure_writing(options, triad, buffers, session, comm);
  result["alone_seconds"] = before + alone(options.puts - options.puts / 2);
  return apps::max_over(comm, result);
}

int run(const Options& options) {
  std::optional<apps::Session> session;
  if (options.mode == Mode::idle || options.mode == Mode::iocomp) {
    std::string settings;
    for (const std::string& line : options.settings) settings += line + "\n";
    session.emplace(settings + "files.overlap.path = '" + options.file + "'\n");
  }
  const MPI_Comm comm = session ? session->comm() : MPI_COMM_WORLD;
  nlohmann::json result = measure(options, session ? &*session : nullptr, comm);
  result["program"] = "overlap";
  result["compute_ranks"] = apps::size_of(comm);
  result["puts"] = options.puts;
  result["bytes_per_put_and_rank"] = options.bytes;
  result["compute_bytes"] = options.compute_bytes;
  if (session) session->finalize();
  if (apps::rank_in(MPI_COMM_WORLD) == 0) {
    if (options.json.empty()) std::cout << result.dump(2) << '\n';
    apps::write_result(options.json, result);
  }
  return 0;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::Options options;
  CLI::App app{"Compute and write in turn: how much of the writing hides behind the computing",
               "overlap"};
  iocomp::bench::declare(app, options);
  return iocomp::apps::run_program(argc, argv, app, [&] { return iocomp::bench::run(options); });
}
