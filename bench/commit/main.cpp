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
#include "common/ranks.h"
#include "common/samples.h"
#include "common/session.h"

namespace iocomp::bench {
namespace {

constexpr std::size_t block_bytes = 4096;
constexpr std::ptrdiff_t steps_to_warm_up = 10;
constexpr std::ptrdiff_t some_steps = 100;  // first and last ones, of which medians are told

struct Options {
  int variables = 100;
  int elements = 64;       // of each rank in a variable of a small step
  int steps = 1000;        // small ones
  std::int64_t bytes = 0;  // of a large step, all ranks together
  int large_pairs = 0;
  bool has_no_fsyncs = false;
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
    apps::check(iocomp_open(session.handle(), "commit", IOCOMP_SERIES, nullptr, &file_),
                "iocomp_open");
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
  double write_committed_step(const double* values) {
    MPI_Barrier(comm_);
    const double began = MPI_Wtime();
    (void)put(values);
    commit();
    return apps::max_over(comm_, MPI_Wtime() - began);
  }
  // @return seconds until all of its bytes are written, and durable by one fsync of each rank. Then
  // it is committed.
  double write_durable_step(const double* values) {
    MPI_Barrier(comm_);
    const double began = MPI_Wtime();
    for (const auto& ticket : put(values)) {
      apps::check(iocomp_wait(&ticket, IOCOMP_WRITTEN), "iocomp_wait");
    }
    const int file = ::open(path_.c_str(), O_WRONLY);
    if (file == -1 || ::fdatasync(file) != 0) {
      throw std::runtime_error("cannot make durable: " + path_);
    }
    ::close(file);
    const double seconds = apps::max_over(comm_, MPI_Wtime() - began);
    commit();
    return seconds;
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
    small.push_back(series.write_committed_step(values.data()));
    two_fsyncs.push_back(is_first && !options.has_no_fsyncs ? plain.two_fsyncs() : 0);
  }
  std::vector<double> durable;
  std::vector<double> committed;
  if (options.large_pairs > 0) {
    series.set_elements(large_elements);
    for (int half = 0; half < 2 * options.large_pairs; ++half) {
      if (is_turn_of_second(half)) {
        committed.push_back(series.write_committed_step(values.data()));
      } else {
        durable.push_back(series.write_durable_step(values.data()));
      }
    }
  }
  series.close();
  const auto some = std::min(some_steps, std::ssize(small));
  const auto first = small.begin() + std::min(std::ssize(small) - some, steps_to_warm_up);
  nlohmann::json found{{"program", "commit"},
                       {"ranks", ranks},
                       {"variables", options.variables},
                       {"small_step_seconds", distribution(small)},
                       {"first_steps_seconds", quantile({first, first + some}, 0.5)},
                       {"last_steps_seconds", quantile({small.end() - some, small.end()}, 0.5)},
                       {"two_fsyncs_seconds", distribution(two_fsyncs)}};
  if (!durable.empty()) {
    found["durable_seconds"] = durable;
    found["committed_seconds"] = committed;
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
  app.add_flag("--no-fsyncs", options.has_no_fsyncs, "time nothing but steps");
  app.add_option("--large-pairs", options.large_pairs,
                 "behind them: steps until durable, and until committed, in turn");
  app.add_option("--bytes", options.bytes, "of a large step")->transform(CLI::AsSizeValue(false));
  return iocomp::bench::run_with(argc, argv, app, file, [&](const auto& session) {
    return iocomp::bench::measure(options, file.path, session);
  });
}
