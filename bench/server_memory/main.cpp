// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/huge_memory.h"
#include "common/one_of.h"
#include "common/program.h"
#include "common/ranks.h"
#include "common/result.h"
#include "common/session.h"

namespace iocomp::bench {
namespace {

enum class Load { large, many, small };

struct Options {
  Load load = Load::large;
  std::string limit = "32 MiB";
  std::string file = "server_memory.dat";
  std::string json;
};

/// The blocks that are sent: `count` of one size in one step, none of them waited for.
struct Blocks {
  std::size_t bytes;
  int count;
};

Blocks blocks_of(Load load) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  switch (load) {
    case Load::large:
      return {512 * mib, 2};
    case Load::many:
      return {mib, 768};
    default:
      return {2048, 50000};
  }
}

/// A line of /proc/self/status such as "VmHWM", in bytes.
double memory_bytes(const std::string& key) {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return 1024.0 * std::stod(line.substr(key.size() + 1));
  }
  throw std::runtime_error("/proc/self/status has no line " + key);
}

/// From here on VmHWM is the peak since now. Not every kernel allows it; then the peak so far stays
/// in.
void forget_peak() { std::ofstream{"/proc/self/clear_refs"} << 5; }

void send(const apps::Session& session, const Blocks& blocks) {
  const int rank = apps::rank_in(session.comm());
  const int ranks = apps::size_of(session.comm());
  const auto elements = static_cast<std::int64_t>(blocks.bytes / sizeof(double));
  const std::int64_t shape = elements * blocks.count * ranks;
  const apps::HugeArray values{static_cast<std::size_t>(elements)};
  iocomp_file* file = nullptr;
  iocomp_var* variable = nullptr;
  apps::check(iocomp_open(session.handle(), "memory", IOCOMP_SERIES, nullptr, &file),
              "iocomp_open");
  apps::check(iocomp_define(file, "u", IOCOMP_FLOAT64, 1, &shape, &variable), "iocomp_define");
  for (int block = 0; block < blocks.count; ++block) {
    const std::int64_t start = elements * (std::int64_t{blocks.count} * rank + block);
    apps::check(iocomp_put(variable, &start, &elements, values.data(), nullptr), "iocomp_put");
  }
  apps::check(iocomp_end_step(file), "iocomp_end_step");
  apps::check(iocomp_close(file), "iocomp_close");
}

int run(const Options& options) {
  forget_peak();
  const double baseline = memory_bytes("VmRSS");
  apps::Session session{"server.end = 'return'\nstaging.memory = '" + options.limit +
                        "'\nfiles.memory.path = '" + options.file + "'\n"};
  double used = 0;
  if (session.is_server()) {
    used = memory_bytes("VmHWM") - baseline;
  } else {
    send(session, blocks_of(options.load));
  }
  session.finalize();
  const double most = apps::max_over(MPI_COMM_WORLD, used);
  if (apps::rank_in(MPI_COMM_WORLD) == 0) {
    apps::write_result(options.json.empty() ? "-" : options.json,
                       {{"program", "server_memory"}, {"server_growth_bytes", most}});
  }
  return 0;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  using iocomp::bench::Load;
  iocomp::bench::Options options;
  CLI::App app{"How much memory a server takes at most, with little staging memory",
               "server_memory"};
  const std::map<std::string, Load> loads{
      {"large", Load::large}, {"many", Load::many}, {"small", Load::small}};
  app.add_option("--load", options.load, "large, many or small")
      ->transform(iocomp::apps::OneOf(loads));
  app.add_option("--limit", options.limit, "staging.memory");
  app.add_option("--file", options.file, "where to write");
  app.add_option("--json", options.json, "write the result there; - means stdout");
  return iocomp::apps::run_program(argc, argv, app, [&] { return iocomp::bench::run(options); });
}
