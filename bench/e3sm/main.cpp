// SPDX-License-Identifier: BSD-3-Clause
// The same steps by iocomp and by PnetCDF's own calls, in turns.
#include <mpi.h>
#include <pnetcdf.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/one_file.h"
#include "common/ranks.h"
#include "common/session.h"
#include "e3sm/patterns.h"

namespace iocomp::bench {
namespace {

struct Options {
  std::string which = "f";
  std::int64_t cells = 24'000;
  int steps = 4;
  int rounds = 3;
};

/// Seconds of the slowest rank.
struct Seconds {
  double in_puts = 0;
  double until_durable = 0;
};

void check(int code, const char* call) {
  if (code != NC_NOERR) {
    throw std::runtime_error{std::string{call} + ": " + ncmpi_strerror(code)};
  }
}

std::vector<double> values_of(const Group& group) {
  return std::vector<double>(static_cast<std::size_t>(group.pattern.elements), 1.0);
}

std::string name_of(std::size_t group, int variable) {
  return "v" + std::to_string(group) + "_" + std::to_string(variable);
}

/// Times the steps of a file: `put` puts one, `settle` makes it durable.
template <typename Put, typename Settle>
Seconds timed(const Options& options, MPI_Comm comm, Put&& put, Settle&& settle) {
  double in_puts = 0;
  MPI_Barrier(comm);
  const double began = MPI_Wtime();
  for (int step = 0; step < options.steps; ++step) {
    const double put_began = MPI_Wtime();
    put(step);
    in_puts += MPI_Wtime() - put_began;
    settle(step);
  }
  const double until_durable = MPI_Wtime() - began;
  return {apps::max_over(comm, in_puts), apps::max_over(comm, until_durable)};
}

Seconds by_iocomp(const Options& options, const apps::Session& session,
                  const std::vector<Group>& groups, int round) {
  MPI_Comm comm = session.comm();
  const std::string path = session.setting("files.e3sm.path") + "." + std::to_string(round);
  iocomp_open_options where{};
  where.size = sizeof where;
  const std::string settings = "path = \"" + path + "\"";
  where.settings = settings.c_str();
  iocomp_file* file = nullptr;
  apps::check(iocomp_open(session.handle(), "e3sm", IOCOMP_SERIES, &where, &file), "iocomp_open");
  std::vector<std::vector<iocomp_var*>> variables;
  std::vector<iocomp_decomp*> decompositions;
  std::vector<std::vector<double>> values;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const Pattern& pattern = groups[group].pattern;
    const auto dimensions = static_cast<int>(pattern.shape.size());
    apps::check(iocomp_decompose(session.handle(), dimensions, pattern.shape.data(),
                                 std::ssize(pattern.first), pattern.first.data(),
                                 pattern.count.data(), &decompositions.emplace_back()),
                "iocomp_decompose");
    values.push_back(values_of(groups[group]));
    variables.emplace_back();
    for (int i = 0; i < groups[group].variables; ++i) {
      apps::check(iocomp_define(file, name_of(group, i).c_str(), IOCOMP_FLOAT64, dimensions,
                                pattern.shape.data(), &variables[group].emplace_back()),
                  "iocomp_define");
    }
  }
  const auto put = [&](int /*step*/) {
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const iocomp_block block{
          .size = sizeof block, .values = values[group].data(), .decomp = decompositions[group]};
      for (iocomp_var* const variable : variables[group]) {
        apps::check(iocomp_put_block(variable, &block, nullptr), "iocomp_put_block");
      }
    }
  };
  const auto settle = [&](int step) {
    apps::check(iocomp_end_step(file), "iocomp_end_step");
    apps::check(iocomp_wait_step(file, step), "iocomp_wait_step");
  };
  const Seconds found = timed(options, comm, put, settle);
  apps::check(iocomp_close(file), "iocomp_close");
  for (iocomp_decomp* const decomposition : decompositions) {
    apps::check(iocomp_decomp_free(decomposition), "iocomp_decomp_free");
  }
  return found;
}

/// The starts and counts of runs in all dimensions, that of time first. A run that ends in a row is
/// one box: the runs of the patterns all do, or have whole rows.
struct Boxes {
  std::vector<std::vector<MPI_Offset>> starts;
  std::vector<std::vector<MPI_Offset>> counts;
  std::vector<MPI_Offset*> start_of;
  std::vector<MPI_Offset*> count_of;
};

Boxes boxes_of(const Pattern& pattern) {
  Boxes boxes;
  const bool has_rows = pattern.shape.size() == 2;
  const MPI_Offset row = has_rows ? pattern.shape[1] : 1;
  for (std::size_t run = 0; run < pattern.first.size(); ++run) {
    const MPI_Offset first = pattern.first[run];
    const MPI_Offset count = pattern.count[run];
    const bool is_whole = has_rows && first % row == 0 && count % row == 0;
    if (!has_rows) {
      boxes.starts.push_back({0, first});
      boxes.counts.push_back({1, count});
    } else {
      boxes.starts.push_back({0, first / row, first % row});
      boxes.counts.push_back({1, is_whole ? count / row : 1, is_whole ? row : count});
    }
  }
  for (std::size_t run = 0; run < boxes.starts.size(); ++run) {
    boxes.start_of.push_back(boxes.starts[run].data());
    boxes.count_of.push_back(boxes.counts[run].data());
  }
  return boxes;
}

Seconds by_pnetcdf(const Options& options, const apps::Session& session,
                   const std::vector<Group>& groups, int round) {
  MPI_Comm comm = session.comm();
  const std::string path = session.setting("files.e3sm.path") + ".pnetcdf." + std::to_string(round);
  int file = 0;
  check(ncmpi_create(comm, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
        "ncmpi_create");
  int time = 0;
  check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &time), "ncmpi_def_dim");
  std::vector<std::vector<int>> variables;
  std::vector<Boxes> boxes;
  std::vector<std::vector<double>> values;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::vector<int> dimensions{time};
    for (const std::int64_t length : groups[group].pattern.shape) {
      const std::string name =
          "d" + std::to_string(group) + "_" + std::to_string(dimensions.size());
      check(ncmpi_def_dim(file, name.c_str(), length, &dimensions.emplace_back()), "ncmpi_def_dim");
    }
    variables.emplace_back();
    for (int i = 0; i < groups[group].variables; ++i) {
      check(ncmpi_def_var(file, name_of(group, i).c_str(), NC_DOUBLE,
                          static_cast<int>(dimensions.size()), dimensions.data(),
                          &variables[group].emplace_back()),
            "ncmpi_def_var");
    }
    boxes.push_back(boxes_of(groups[group].pattern));
    values.push_back(values_of(groups[group]));
  }
  check(ncmpi_enddef(file), "ncmpi_enddef");
  const auto put = [&](int step) {
    for (std::size_t group = 0; group < groups.size(); ++group) {
      for (auto& start : boxes[group].starts) {
        start.front() = step;
      }
      for (const int variable : variables[group]) {
        check(ncmpi_iput_varn(file, variable, static_cast<int>(boxes[group].starts.size()),
                              boxes[group].start_of.data(), boxes[group].count_of.data(),
                              values[group].data(), std::ssize(values[group]), MPI_DOUBLE, nullptr),
              "ncmpi_iput_varn");
      }
    }
  };
  const auto settle = [&](int /*step*/) {
    check(ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr), "ncmpi_wait_all");
    check(ncmpi_sync(file), "ncmpi_sync");
  };
  const Seconds found = timed(options, comm, put, settle);
  check(ncmpi_close(file), "ncmpi_close");
  return found;
}

nlohmann::json measure(const Options& options, const apps::Session& session) {
  const auto groups = groups_of(options.which.front(), options.cells, apps::rank_in(session.comm()),
                                apps::size_of(session.comm()));
  nlohmann::json found = {{"program", "e3sm"}, {"case", options.which}};
  for (int half = 0; half < 2 * options.rounds; ++half) {
    const bool is_rival = is_turn_of_second(half);
    const Seconds seconds = is_rival ? by_pnetcdf(options, session, groups, half)
                                     : by_iocomp(options, session, groups, half);
    const char* const name = is_rival ? "pnetcdf" : "iocomp";
    found[name]["put_seconds"].push_back(seconds.in_puts);
    found[name]["durable_seconds"].push_back(seconds.until_durable);
  }
  double bytes = 0;
  for (const Group& group : groups) {
    const auto elements = static_cast<double>(group.pattern.elements);
    bytes += 8 * elements * group.variables * options.steps;
  }
  found["bytes_of_first_rank"] = bytes;
  return found;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::Options options;
  iocomp::bench::OneFile file{.name = "e3sm", .path = "e3sm.nc", .mode = "async"};
  file.backend = "pnetcdf";
  CLI::App app{"The patterns of E3SM by iocomp and by PnetCDF", "e3sm"};
  app.add_option("--case", options.which, "f, g or i")->check(CLI::IsMember({"f", "g", "i"}));
  app.add_option("--cells", options.cells, "of the mesh")->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps, "of a file")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "files of each")->check(CLI::PositiveNumber);
  return iocomp::bench::run_with(argc, argv, app, file, [&](const auto& session) {
    return iocomp::bench::measure(options, session);
  });
}
