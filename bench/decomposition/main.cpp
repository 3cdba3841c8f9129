// SPDX-License-Identifier: BSD-3-Clause
#include <malloc.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "common/one_file.h"
#include "common/ranks.h"
#include "common/session.h"

namespace iocomp::bench {
namespace {

struct Options {
  std::int64_t runs = 100'000;  // of each rank
  bool shuffled = false;
};

/// Runs of 1 to 16 elements, dealt out to the ranks in turn.
struct Part {
  std::int64_t shape = 0;
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> count;
  std::int64_t elements = 0;
};

Part part_of(const Options& options, int rank, int ranks) {
  std::mt19937_64 generator{1};  // the same on all ranks
  Part part;
  for (std::int64_t run = 0; run < options.runs * ranks; ++run) {
    const auto length = static_cast<std::int64_t>(1 + generator() % 16);
    if (run % ranks == rank) {
      part.first.push_back(part.shape);
      part.count.push_back(length);
      part.elements += length;
    }
    part.shape += length;
  }
  if (options.shuffled) {
    for (std::size_t i = part.first.size(); i-- > 1;) {
      const std::size_t other = generator() % (i + 1);
      std::swap(part.first[i], part.first[other]);
      std::swap(part.count[i], part.count[other]);
    }
  }
  return part;
}

double heap_bytes() {
  const auto all = mallinfo2();
  return static_cast<double>(all.uordblks + all.hblkhd);
}

/// Define, then put three steps: the first takes the runs to the servers.
nlohmann::json measure(const Options& options, const apps::Session& session) {
  MPI_Comm comm = session.comm();
  const Part part = part_of(options, apps::rank_in(comm), apps::size_of(comm));
  const std::vector<double> values(static_cast<std::size_t>(part.elements), 1.0);
  iocomp_file* file = nullptr;
  iocomp_var* variable = nullptr;
  iocomp_decomp* decomposition = nullptr;
  apps::check(iocomp_open(session.handle(), "mesh", IOCOMP_SERIES, nullptr, &file), "iocomp_open");
  apps::check(iocomp_define(file, "u", IOCOMP_FLOAT64, 1, &part.shape, &variable), "iocomp_define");
  MPI_Barrier(comm);
  const double bytes_before = heap_bytes();
  const double began = MPI_Wtime();
  apps::check(iocomp_decompose(session.handle(), 1, &part.shape, options.runs, part.first.data(),
                               part.count.data(), &decomposition),
              "iocomp_decompose");
  const double define_seconds = MPI_Wtime() - began;
  const double bytes = heap_bytes() - bytes_before;
  nlohmann::json put_seconds = nlohmann::json::array();
  for (int step = 0; step < 3; ++step) {
    MPI_Barrier(comm);
    const double put_began = MPI_Wtime();
    const iocomp_block block{
        .size = sizeof block, .values = values.data(), .decomp = decomposition};
    apps::check(iocomp_put_block(variable, &block, nullptr), "iocomp_put_block");
    apps::check(iocomp_end_step(file), "iocomp_end_step");
    put_seconds.push_back(apps::max_over(comm, MPI_Wtime() - put_began));
    apps::check(iocomp_wait_step(file, step), "iocomp_wait_step");
  }
  apps::check(iocomp_close(file), "iocomp_close");
  return {{"program", "decomposition"},
          {"ranks", apps::size_of(comm)},
          {"runs", options.runs},
          {"define_seconds", apps::max_over(comm, define_seconds)},
          {"bytes_per_run", apps::max_over(comm, bytes) / static_cast<double>(options.runs)},
          {"put_seconds", put_seconds}};
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::Options options;
  iocomp::bench::OneFile file{.name = "mesh", .path = "decomposition.dat", .mode = "sync"};
  CLI::App app{"What it takes to define an irregular decomposition", "decomposition"};
  app.add_option("--runs", options.runs, "of each rank")->check(CLI::PositiveNumber);
  app.add_flag("--shuffled", options.shuffled, "runs in no order");
  return iocomp::bench::run_with(argc, argv, app, file, [&](const auto& session) {
    return iocomp::bench::measure(options, session);
  });
}
