// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/process.h"
#include "common/program.h"
#include "common/put_array.h"
#include "common/ranks.h"
#include "common/result.h"
#include "common/servers.h"
#include "common/stopwatch.h"

namespace iocomp::bench {
namespace {

using apps::check;

struct Options {
  std::size_t bytes = 4096;  ///< of a put
  int puts = 4096;           ///< per step, all ranks together
  int steps = 8;
  int batch = 32;  ///< puts of a rank before it waits for them
  bool alloc = false;
  std::string file = "scale.dat";
  std::vector<std::string> settings;
  std::string json;
};

/// The puts of one rank: neighbouring blocks of one array, from a few buffers.
class Puts {
 public:
  Puts(const Options& options, const apps::Session& session)
      : batch_{options.batch},
        steps_{options.steps},
        count_{static_cast<std::int64_t>(options.bytes / sizeof(double))},
        puts_{std::max(1, options.puts / apps::size_of(session.comm()))},
        first_{count_ * puts_ * apps::rank_in(session.comm())},
        buffers_{options.alloc ? &session : nullptr, static_cast<std::size_t>(count_ * batch_)},
        tickets_(static_cast<std::size_t>(batch_)) {
    const std::int64_t shape = count_ * puts_ * apps::size_of(session.comm());
    check(iocomp_open(session.handle(), "scale", IOCOMP_SERIES, nullptr, &file_), "iocomp_open");
    check(iocomp_define(file_, "u", IOCOMP_FLOAT64, 1, &shape, &variable_), "iocomp_define");
  }

  /// Until all is handed over.
  void run() {
    for (int step = 0; step < steps_; ++step) {
      for (int begin = 0; begin < puts_; begin += batch_) {
        put_batch(begin, std::min(begin + batch_, puts_));
      }
      check(iocomp_end_step(file_), "iocomp_end_step");
    }
  }
  void close() { check(iocomp_close(file_), "iocomp_close"); }

  [[nodiscard]] double count() const noexcept { return static_cast<double>(puts_) * steps_; }

 private:
  void put_batch(int begin, int end) {
    for (int put = begin; put < end; ++put) {
      const std::int64_t start = first_ + count_ * put;
      check(iocomp_put(variable_, &start, &count_, buffers_.data() + count_ * (put - begin),
                       &tickets_[static_cast<std::size_t>(put - begin)]),
            "iocomp_put");
    }
    for (int put = begin; put < end; ++put) {
      check(iocomp_wait(&tickets_[static_cast<std::size_t>(put - begin)], IOCOMP_REUSABLE),
            "iocomp_wait");
    }
  }

  int batch_;
  int steps_;
  std::int64_t count_;
  int puts_;  ///< of this rank, per step
  std::int64_t first_;
  apps::PutArray buffers_;
  std::vector<iocomp_ticket> tickets_;
  iocomp_file* file_ = nullptr;
  iocomp_var* variable_ = nullptr;
};

/// Asleep: who waits in MPI_Barrier takes the processor from those that still work.
void wait_for_all(MPI_Comm comm) {
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &all);
  for (int done = 0; done == 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    MPI_Test(&all, &done, MPI_STATUS_IGNORE);
  }
}

double sum_over(MPI_Comm comm, double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

nlohmann::json measure(const Options& options, const apps::Session& session, const Servers& servers,
                       double bytes_before_session) {
  const MPI_Comm comm = session.comm();
  Puts puts{options, session};
  const ProcessAccount own = account_of(getpid());
  const ProcessAccount before = servers.account();
  wait_for_all(comm);
  const double begin = apps::now_seconds();
  puts.run();
  const double own_seconds = apps::now_seconds() - begin;
  const ProcessAccount own_after = account_of(getpid());
  wait_for_all(comm);
  const double seconds = apps::max_over(comm, own_seconds);
  puts.close();
  const double until_durable = apps::max_over(comm, apps::now_seconds() - begin);
  const ProcessAccount after = servers.account();
  const double hand_offs = sum_over(comm, puts.count());
  return {{"program", "scale"},
          {"compute_ranks", apps::size_of(comm)},
          {"servers", servers.count()},
          {"hand_offs", hand_offs},
          {"bytes", hand_offs * static_cast<double>(options.bytes)},
          {"hand_over_seconds", seconds},
          {"wall_until_durable_seconds", until_durable},
          {"hand_offs_per_second", hand_offs / seconds},
          {"bytes_per_second", hand_offs * static_cast<double>(options.bytes) / seconds},
          {"compute_cpu_seconds", sum_over(comm, own_after.cpu_seconds - own.cpu_seconds)},
          {"compute_wake_ups", sum_over(comm, own_after.wake_ups - own.wake_ups)},
          {"server_cpu_seconds", after.cpu_seconds - before.cpu_seconds},
          {"server_wake_ups", after.wake_ups - before.wake_ups},
          {"server_peak_bytes", after.peak_bytes},
          {"compute_growth_bytes",
           apps::max_over(comm, own_after.resident_bytes - bytes_before_session)}};
}

int run(const Options& options) {
  const double bytes_before_session = account_of(getpid()).resident_bytes;
  Servers servers;
  std::string settings;
  for (const std::string& line : options.settings) settings += line + "\n";
  apps::Session session{settings + "files.scale.path = '" + options.file + "'\n"};
  servers.find(session.comm());
  const nlohmann::json result = measure(options, session, servers, bytes_before_session);
  const bool first = apps::rank_in(session.comm()) == 0;
  session.finalize();
  if (first) apps::write_result(options.json.empty() ? "-" : options.json, result);
  return 0;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::Options options;
  CLI::App app{"Many ranks hand over many small blocks", "scale"};
  app.add_option("--bytes", options.bytes, "of a put")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{8}, std::size_t{1} << 30U))
      ->capture_default_str();
  app.add_option("--puts", options.puts, "per step, all ranks together")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "number of steps")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "puts of a rank before it waits for them")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--alloc", options.alloc, "put from memory of iocomp_alloc");
  app.add_option("--file", options.file, "where to write");
  app.add_option("--set", options.settings, "a setting as TOML");
  app.add_option("--json", options.json, "write the result there; - means stdout");
  return iocomp::apps::run_program(argc, argv, app, [&] { return iocomp::bench::run(options); });
}
