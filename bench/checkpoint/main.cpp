// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/huge_memory.h"
#include "common/one_file.h"
#include "common/ranks.h"
#include "common/session.h"

namespace iocomp::bench {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::int64_t bytes = std::int64_t{128} << 20;  // of each rank in a file
  int pairs = 8;
  bool series = false;
  std::string with = "checksum = 'xxh3'";
  std::string without = "checksum = 'none'";
};

// @return seconds from before the file is opened until it is closed.
double write_file(const apps::Session& session, iocomp_kind kind, const std::string& settings,
                  const apps::HugeArray& values) {
  MPI_Comm comm = session.comm();
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t start = count * apps::rank_in(comm);
  const std::int64_t shape = count * apps::size_of(comm);
  const iocomp_open_options options{.size = sizeof options, .settings = settings.c_str()};
  MPI_Barrier(comm);
  const double began = MPI_Wtime();
  iocomp_file* file = nullptr;
  apps::check(iocomp_open(session.handle(), "checkpoint", kind, &options, &file), "iocomp_open");
  iocomp_var* u = nullptr;
  apps::check(iocomp_define(file, "u", IOCOMP_FLOAT64, 1, &shape, &u), "iocomp_define");
  apps::check(iocomp_put(u, &start, &count, values.data(), nullptr), "iocomp_put");
  apps::check(iocomp_end_step(file), "iocomp_end_step");
  apps::check(iocomp_close(file), "iocomp_close");
  return apps::max_over(comm, MPI_Wtime() - began);
}

// The disk has nothing left to do for the file before.
void remove_file(const apps::Session& session, const fs::path& path) {
  if (apps::rank_in(session.comm()) == 0) {
    for (const auto& entry : fs::directory_iterator{fs::absolute(path).parent_path()}) {
      if (entry.path().filename().string().starts_with(path.stem().string() + '.')) {
        fs::remove(entry.path());
      }
    }
    ::sync();
  }
  MPI_Barrier(session.comm());
}

nlohmann::json measure(const Options& options, const std::string& path,
                       const apps::Session& session) {
  const apps::HugeArray values(static_cast<std::size_t>(options.bytes) / sizeof(double));
  std::vector<double> with;
  std::vector<double> without;
  const iocomp_kind kind = options.series ? IOCOMP_SERIES : IOCOMP_CHECKPOINT;
  for (int half = 0; half < 2 * options.pairs; ++half) {
    const bool is_second = is_turn_of_second(half);
    auto& seconds = is_second ? with : without;
    seconds.push_back(
        write_file(session, kind, is_second ? options.with : options.without, values));
    remove_file(session, path);
  }
  return {{"program", "checkpoint"},
          {"ranks", apps::size_of(session.comm())},
          {"bytes", options.bytes * apps::size_of(session.comm())},
          {"with_seconds", with},
          {"without_seconds", without}};
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::Options options;
  iocomp::bench::OneFile file{.name = "checkpoint", .path = "checkpoint.dat", .mode = "sync"};
  CLI::App app{"What settings add to the wall of a checkpoint, such as checksums", "checkpoint"};
  app.add_option("--bytes", options.bytes, "of each rank")->transform(CLI::AsSizeValue(false));
  app.add_option("--pairs", options.pairs, "of files with and without the settings")
      ->check(CLI::PositiveNumber);
  app.add_option("--with", options.with, "settings of the one file, as TOML")
      ->capture_default_str();
  app.add_option("--without", options.without, "of the other")->capture_default_str();
  app.add_flag("--series", options.series, "series of one step instead of checkpoints");
  return iocomp::bench::run_with(argc, argv, app, file, [&](const auto& session) {
    return iocomp::bench::measure(options, file.path, session);
  });
}
