// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>

#include "common/program.h"
#include "common/ranks.h"
#include "common/result.h"
#include "common/servers.h"
#include "common/stopwatch.h"
#include "interference/kernels.h"
#include "interference/load.h"
#include "interference/options.h"

namespace iocomp::bench {
namespace {

using apps::now_seconds;

/// Compares slices of the same work alone, with the servers stopped, and beside them. Within one
/// process, since from process to process the places of pages change the speed more than an idle
/// server does.
class Comparison {
 public:
  Comparison(const InterferenceOptions& options, const Servers& servers, Load* load)
      : options_{options}, servers_{servers}, load_{load} {}

  nlohmann::json compare(const std::string& name) {
    const auto kernel = make_kernel(name);
    const int calls = calls_in_slice(*kernel);
    double alone = 0;
    double beside = 0;
    for (int pair = 0; pair < options_.pairs; ++pair) {
      const bool alone_first = pair % 2 == 0;  // what drifts shall not favour one of them
      if (alone_first) alone += alone_slice(*kernel, calls);
      if (options_.beside != Beside::none) beside += beside_slice(*kernel, calls);
      if (!alone_first) alone += alone_slice(*kernel, calls);
    }
    nlohmann::json result{{"alone_seconds", alone}};
    if (options_.beside != Beside::none) result["beside_seconds"] = beside;
    return result;
  }

 private:
  static double seconds_of(ComputeKernel& kernel) {
    const double begin = now_seconds();
    kernel.run();
    return now_seconds() - begin;
  }

  int calls_in_slice(ComputeKernel& kernel) {
    servers_.hold();
    kernel.run();
    double shortest = seconds_of(kernel);
    for (int i = 0; i < 4; ++i) shortest = std::min(shortest, seconds_of(kernel));
    servers_.release();
    return std::max(1, static_cast<int>(options_.slice_seconds / shortest));
  }

  double alone_slice(ComputeKernel& kernel, int calls) {
    if (load_ != nullptr) load_->drain();
    servers_.hold();
    double seconds = 0;
    for (int call = 0; call < calls; ++call) seconds += seconds_of(kernel);
    servers_.release();
    return seconds;
  }

  double beside_slice(ComputeKernel& kernel, int calls) {
    double seconds = 0;
    for (int call = 0; call < calls; ++call) {
      if (load_ != nullptr) load_->feed();
      seconds += seconds_of(kernel);
    }
    return seconds;
  }

  const InterferenceOptions& options_;
  const Servers& servers_;
  Load* load_;
};

nlohmann::json idle_account(const InterferenceOptions& options, const Servers& servers) {
  // Servers touch their memory when they start; that is no cost of waiting.
  std::this_thread::sleep_for(std::chrono::seconds{1});
  const ProcessAccount before = servers.account();
  std::this_thread::sleep_for(std::chrono::duration<double>(options.idle_seconds));
  const ProcessAccount after = servers.account();
  return {{"idle_seconds", options.idle_seconds},
          {"server_cpu_seconds", after.cpu_seconds - before.cpu_seconds},
          {"server_wake_ups", after.wake_ups - before.wake_ups}};
}

nlohmann::json measure(const InterferenceOptions& options, const Servers& servers, Load* load) {
  nlohmann::json result{{"program", "interference"}, {"servers", servers.count()}};
  if (options.idle_seconds > 0) result.update(idle_account(options, servers));
  double alone = 0;
  double beside = 0;
  const bool computes = options.pairs > 0;
  for (const std::string& name : computes ? options.kernels : std::vector<std::string>{}) {
    nlohmann::json& found = result["kernels"][name];
    found = Comparison{options, servers, load}.compare(name);
    alone += found["alone_seconds"].get<double>();
    beside += found.value("beside_seconds", 0.0);
  }
  result["alone_seconds"] = alone;
  result["beside_seconds"] = beside;
  result["bytes_written"] = load == nullptr ? 0.0 : load->bytes_put();
  return result;
}

int run(const InterferenceOptions& options) {
  Servers servers;
  std::optional<apps::Session> session;
  std::optional<Load> load;
  if (options.beside != Beside::none) {
    std::string settings;
    for (const std::string& line : options.settings) settings += line + "\n";
    session.emplace(settings + "files.interference.path = '" + options.file + "'\n");
    servers.find(session->comm());
  }
  const MPI_Comm comm = session ? session->comm() : MPI_COMM_WORLD;
  if (apps::size_of(comm) != 1) throw std::runtime_error("interference needs one compute rank");
  if (options.beside == Beside::writing) {
    load.emplace(*session, options.block_bytes, options.alloc);
  }
  const nlohmann::json result = measure(options, servers, load ? &*load : nullptr);
  if (load) load->close();
  if (session) session->finalize();
  apps::write_result(options.json.empty() ? "-" : options.json, result);
  return 0;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::InterferenceOptions options;
  CLI::App app{"What a server costs the computation beside it", "interference"};
  iocomp::bench::declare(app, options);
  return iocomp::apps::run_program(argc, argv, app, [&] { return iocomp::bench::run(options); });
}
