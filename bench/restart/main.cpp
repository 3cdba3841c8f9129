// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/huge_memory.h"
#include "common/one_file.h"
#include "common/ranks.h"
#include "common/session.h"

namespace iocomp::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t plain_request = std::size_t{8} << 20;

struct Options {
  std::int64_t bytes = std::int64_t{256} << 20;  // of the checkpoint
  int readers = 2;                               // the first so many ranks
  int pairs = 5;
};

// The elements of one of several ranks.
struct Slab {
  Slab(std::int64_t elements, int rank, int ranks)
      : start{elements * rank / ranks}, count{elements * (rank + 1) / ranks - start} {}
  std::int64_t start;
  std::int64_t count;
};

void write_checkpoint(const apps::Session& session, std::int64_t elements) {
  const Slab own{elements, apps::rank_in(session.comm()), apps::size_of(session.comm())};
  const apps::HugeArray values(static_cast<std::size_t>(own.count));
  std::iota(values.values().begin(), values.values().end(), static_cast<double>(own.start));
  iocomp_file* file = nullptr;
  iocomp_var* u = nullptr;
  apps::check(iocomp_open(session.handle(), "restart", IOCOMP_CHECKPOINT, nullptr, &file),
              "iocomp_open");
  apps::check(iocomp_define(file, "u", IOCOMP_FLOAT64, 1, &elements, &u), "iocomp_define");
  apps::check(iocomp_put(u, &own.start, &own.count, values.data(), nullptr), "iocomp_put");
  apps::check(iocomp_end_step(file), "iocomp_end_step");
  apps::check(iocomp_close(file), "iocomp_close");
}

// Some ranks read the checkpoint, each its part.
class Readers {
 public:
  Readers(const apps::Session& session, MPI_Comm comm, std::string path, std::int64_t elements)
      : session_{session.handle()},
        comm_{comm},
        path_{std::move(path)},
        elements_{elements},
        own_{elements, apps::rank_in(comm), apps::size_of(comm)},
        values_(static_cast<std::size_t>(own_.count)) {}

  // @return seconds from before the newest checkpoint is looked for until it is closed.
  double by_iocomp() {
    MPI_Barrier(comm_);
    const double began = MPI_Wtime();
    std::int64_t step = -1;
    iocomp_input* input = nullptr;
    const iocomp_open_options options{.size = sizeof options, .comm = &comm_};
    apps::check(iocomp_latest(session_, "restart", &options, &step, nullptr, &input),
                "iocomp_latest");
    apps::check(iocomp_read(input, "u", step, &own_.start, &own_.count, values_.data()),
                "iocomp_read");
    apps::check(iocomp_close_input(input), "iocomp_close_input");
    const double seconds = apps::max_over(comm_, MPI_Wtime() - began);
    for (std::int64_t i = 0; i < own_.count; ++i) {
      if (values_.data()[i] != static_cast<double>(own_.start + i)) {
        throw std::runtime_error("what was read is not what was put");
      }
    }
    return seconds;
  }
  // The same bytes of the file as they come, wherever the values begin.
  double plainly() {
    MPI_Barrier(comm_);
    const double began = MPI_Wtime();
    const int file = ::open(path_.c_str(), O_RDONLY);
    const auto bytes = static_cast<std::size_t>(own_.count) * sizeof(double);
    auto* const to = reinterpret_cast<std::byte*>(values_.data());
    for (std::size_t read = 0; read < bytes;) {
      const auto got = ::pread(
          file, to + read, std::min(plain_request, bytes - read),
          own_.start * static_cast<std::int64_t>(sizeof(double)) + static_cast<std::int64_t>(read));
      if (got <= 0) {
        throw std::runtime_error("cannot read " + path_);
      }
      read += static_cast<std::size_t>(got);
    }
    ::close(file);
    return apps::max_over(comm_, MPI_Wtime() - began);
  }
  // Collective over the readers. What was written is durable, so its pages can go.
  void forget() const {
    if (apps::rank_in(comm_) == 0) {
      const int file = ::open(path_.c_str(), O_RDONLY);
      if (file == -1 || ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) {
        throw std::runtime_error("cannot take out of the page cache: " + path_);
      }
      ::close(file);
    }
    MPI_Barrier(comm_);
  }

 private:
  iocomp_session* session_;
  MPI_Comm comm_;
  std::string path_;
  std::int64_t elements_;
  Slab own_;
  apps::HugeArray values_;
};

nlohmann::json read_in_turns(Readers& readers, int pairs, bool is_cached) {
  std::vector<double> iocomp;
  std::vector<double> plain;
  (void)readers.plainly();
  for (int half = 0; half < 2 * pairs; ++half) {
    if (!is_cached) {
      readers.forget();
    }
    if (is_turn_of_second(half)) {
      iocomp.push_back(readers.by_iocomp());
    } else {
      plain.push_back(readers.plainly());
    }
  }
  return {{"iocomp_seconds", iocomp}, {"plain_seconds", plain}};
}

nlohmann::json measure(const Options& options, const std::string& path,
                       const apps::Session& session) {
  const std::int64_t elements = options.bytes / static_cast<std::int64_t>(sizeof(double));
  write_checkpoint(session, elements);
  const fs::path file{path};
  const auto written =
      file.parent_path() / (file.stem().string() + ".000000" + file.extension().string());
  nlohmann::json result{{"program", "restart"},
                        {"ranks", apps::size_of(session.comm())},
                        {"readers", options.readers},
                        {"bytes", options.bytes}};
  const int rank = apps::rank_in(session.comm());
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(session.comm(), rank < options.readers ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    Readers readers{session, comm, written.string(), elements};
    result["from_disk"] = read_in_turns(readers, options.pairs, false);
    result["from_cache"] = read_in_turns(readers, options.pairs, true);
    MPI_Comm_free(&comm);
  }
  return result;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::Options options;
  iocomp::bench::OneFile file{.name = "restart", .path = "restart.dat", .mode = "sync"};
  CLI::App app{"How fast a checkpoint is read by other ranks than those that wrote it", "restart"};
  app.add_option("--bytes", options.bytes, "of the checkpoint")->transform(CLI::AsSizeValue(false));
  app.add_option("--readers", options.readers, "so many ranks read")->check(CLI::PositiveNumber);
  app.add_option("--pairs", options.pairs, "of readings")->check(CLI::PositiveNumber);
  return iocomp::bench::run_with(argc, argv, app, file, [&](const auto& session) {
    return iocomp::bench::measure(options, file.path, session);
  });
}
