// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/huge_memory.h"
#include "common/one_file.h"
#include "common/program.h"
#include "common/ranks.h"
#include "common/samples.h"
#include "common/session.h"

namespace iocomp::bench {
namespace {

constexpr std::size_t block_bytes = 4096;

struct Options {
  int variables = 100;
  int elements = 64;       // of each rank in a variable of a small step
  int steps = 1000;        // small ones
  std::int64_t bytes = 0;  // of a large step, all ranks together
  int large_steps = 0;
};

// A file beside the one that is measured, for what the disk itself takes.
class PlainFile {
 public:
  explicit PlainFile(const std::string& beside)
      : path_{beside + ".plain"}, file_{::open(path_.c_str(), O_WRONLY | O_CREAT, 0600)} {
    if (file_ == -1) {
      throw std::runtime_error("cannot create " + path_);
    }
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() {
    ::close(file_);
    ::unlink(path_.c_str());
  }
  // Append a block and fsync, twice.
  double two_fsyncs() {
    static constexpr std::array<std::byte, block_bytes> block{};
    const double began = MPI_Wtime();
    for (int i = 0; i < 2; ++i) {
      if (::write(file_, block.data(), block.size()) != static_cast<ssize_t>(block.size()) ||
          ::fsync(file_) != 0) {
        throw std::runtime_error("cannot write " + path_);
      }
    }
    return MPI_Wtime() - began;
  }

 private:
  std::string path_;
  int file_;
};

class Series {
 public:
  Series(const Options& options, const apps::Session& session, std::string path)
      : comm_{session.comm()}, path_{std::move(path)}, elements_{options.elements} {
    apps::check(iocomp_open(session.handle(), "commit", IOCOMP_SERIES, &file_), "iocomp_open");
    const auto shape = global_shape();
    for (int i = 0; i < options.variables; ++i) {
      variables_.emplace_back();
      apps::check(iocomp_define(file_, ("v" + std::to_string(i)).c_str(), IOCOMP_FLOAT64, 1, &shape,
                                &variables_.back()),
                  "iocomp_define");
    }
  }
  void set_elements(std::int64_t elements) {
    elements_ = elements;
    const auto shape = global_shape();
    for (auto* const variable : variables_) {
      apps::check(iocomp_set_shape(variable, &shape), "iocomp_set_shape");
    }
  }
  // @return seconds until the step is committed.
  double write_small_step(const double* values) {
    MPI_Barrier(comm_);
    const double began = MPI_Wtime();
    (void)put(values);
    commit();
    return apps::max_over(comm_, MPI_Wtime() - began);
  }
  struct Large {
    double durable = 0;  // seconds until all of its bytes are
    double commit = 0;   // and from there until it is committed
  };
  Large write_large_step(const double* values) {
    MPI_Barrier(comm_);
    const double began = MPI_Wtime();
    const auto tickets = put(values);
    for (const auto state : {IOCOMP_WRITTEN, IOCOMP_DURABLE}) {
      for (const auto& ticket : tickets) {
        apps::check(iocomp_wait(&ticket, state), "iocomp_wait");
      }
    }
    MPI_Barrier(comm_);
    const double durable = MPI_Wtime();
    commit();
    const double end = MPI_Wtime();
    return {apps::max_over(comm_, durable - began), apps::max_over(comm_, end - durable)};
  }
  void close() { apps::check(iocomp_close(file_), "iocomp_close"); }

 private:
  [[nodiscard]] std::int64_t global_shape() const { return elements_ * apps::size_of(comm_); }
  std::vector<iocomp_ticket> put(const double* values) {
    const std::int64_t start = elements_ * apps::rank_in(comm_);
    std::vector<iocomp_ticket> tickets(variables_.size());
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      apps::check(iocomp_put(variables_[i], &start, &elements_, values, &tickets[i]), "iocomp_put");
    }
    return tickets;
  }
  void commit() {
    apps::check(iocomp_end_step(file_), "iocomp_end_step");
    apps::check(iocomp_wait_step(file_, step_++), "iocomp_wait_step");
  }

  MPI_Comm comm_;
  std::string path_;
  std::int64_t elements_;  // of each rank in a variable
  iocomp_file* file_ = nullptr;
  std::vector<iocomp_var*> variables_;
  std::int64_t step_ = 0;
};

nlohmann::json measure(const Options& options, const std::string& path,
                       const apps::Session& session) {
  const int ranks = apps::size_of(session.comm());
  const bool is_first = apps::rank_in(session.comm()) == 0;
  const std::int64_t large_elements = options.bytes / 8 / options.variables / ranks;
  const apps::HugeArray values(
      static_cast<std::size_t>(std::max<std::int64_t>(options.elements, large_elements)));
  Series series{options, session, path};
  PlainFile plain{path + std::to_string(apps::rank_in(session.comm()))};
  std::vector<double> small;
  std::vector<double> two_fsyncs;
  for (int step = 0; step < options.steps; ++step) {
    small.push_back(series.write_small_step(values.data()));
    two_fsyncs.push_back(is_first ? plain.two_fsyncs() : 0);
  }
  std::vector<double> durable;
  std::vector<double> commit;
  if (options.large_steps > 0) {
    series.set_elements(large_elements);
    for (int step = 0; step < options.large_steps; ++step) {
      const auto large = series.write_large_step(values.data());
      durable.push_back(large.durable);
      commit.push_back(large.commit);
    }
  }
  series.close();
  nlohmann::json found{{"program", "commit"},
                       {"ranks", ranks},
                       {"variables", options.variables},
                       {"small_step_seconds", distribution(small)},
                       {"two_fsyncs_seconds", distribution(two_fsyncs)}};
  if (!durable.empty()) {
    found["large_step_seconds"] = distribution(durable);
    found["large_commit_seconds"] = distribution(commit);
  }
  return found;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::Options options;
  iocomp::bench::OneFile file{.name = "commit", .path = "commit.dat", .mode = "async"};
  CLI::App app{"What the commit of a step costs", "commit"};
  app.add_option("--variables", options.variables, "of the file")->check(CLI::PositiveNumber);
  app.add_option("--elements", options.elements, "of a rank in a variable of a small step")
      ->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps, "small ones")->check(CLI::PositiveNumber);
  app.add_option("--large-steps", options.large_steps, "behind them");
  app.add_option("--bytes", options.bytes, "of a large step")->transform(CLI::AsSizeValue(false));
  iocomp::bench::add_options(app, file);
  return iocomp::apps::run_program(argc, argv, app, [&] {
    return iocomp::bench::run_with(file, [&](const auto& session) {
      return iocomp::bench::measure(options, file.path, session);
    });
  });
}
