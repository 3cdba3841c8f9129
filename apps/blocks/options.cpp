// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <stdexcept>

#include "common/one_of.h"

namespace iocomp::apps::blocks {
namespace {

constexpr int many = 1'000'000;
constexpr int mantissa_bits = 52;

void declare_output(CLI::App& app, Options& options) {
  const std::map<std::string, Layout> layouts{
      {"shared", Layout::shared}, {"process", Layout::process}, {"node", Layout::node}};
  app.add_option("--backend", options.backends,
                 "back-ends of iocomp, separated by commas: NAME, NAME:sync or NAME:async, or all "
                 "that are there; without it that of the settings")
      ->delimiter(',');
  app.add_option("--baseline", options.baselines,
                 "write without iocomp: none, posix, posix-one, mpiio, hdf5, netcdf, pnetcdf, "
                 "adios2, adios2-async")
      ->delimiter(',');
  app.add_flag("--ratio", options.ratio,
               "run iocomp and the baselines in one job, in turn, and compare them");
  app.add_option("--layout", options.layout,
                 "shared: one file; process: one per compute rank; node: one per node")
      ->transform(OneOf(layouts));
  app.add_option("--node-size", options.node_size,
                 "compute ranks that share a file of layout node; 0: those that share memory")
      ->check(CLI::Range(0, many));
  app.add_option("--directory", options.directory, "where files go")->capture_default_str();
  app.add_flag("--keep", options.keep, "leave the files of the last repetition");
  app.add_option(
         "--aggregators", options.aggregators,
         "ranks on each node that write for others (files.*.aggregators of iocomp, hints of "
         "collective MPI-IO of the baselines); 0: all, and the MPI's choice")
      ->check(CLI::Range(0, many));
  app.add_option("--aggregator-order", options.aggregator_order,
                 "which ranks these are, where iocomp chooses: spread or packed")
      ->check(CLI::IsMember({"spread", "packed"}))
      ->capture_default_str();
  app.add_option("--hint", options.hints, "an MPI-IO hint for the baselines: KEY=VALUE");
  app.add_option("--set", options.settings,
                 "a setting of iocomp as TOML: --set 'staging.memory = \"64 MiB\"' (weaker than "
                 "iocomp.toml and the environment)");
}

void declare_measurement(CLI::App& app, Options& options) {
  const std::map<std::string, bool> in_out{{"in", true}, {"out", false}};
  const std::map<std::string, Check> checks{
      {"none", Check::none}, {"last", Check::last}, {"all", Check::all}};
  app.add_option("--repetitions", options.repetitions, "how often each way writes")
      ->check(CLI::Range(1, many))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "steps of a file")
      ->check(CLI::Range(1, many))
      ->capture_default_str();
  app.add_option("--phase", options.phase,
                 "compute before each step, so many times as long as the fastest of the "
                 "synchronous back-ends takes to write it; 0: not at all")
      ->check(CLI::Range(0.0, 1000.0));
  app.add_option("--phase-waits", options.phase_waits,
                 "the part of these phases in which ranks sleep, a few milliseconds at a time, as "
                 "if they waited for others")
      ->check(CLI::Range(0.0, 0.9));
  app.add_option("--noise", options.noise_bits,
                 "so many of the last bits of each value look random, as those of computed values "
                 "do: they hardly compress")
      ->check(CLI::Range(0, mantissa_bits));
  app.add_option("--fsync", options.durable,
                 "in: the time ends when all is durable; out: when all is written")
      ->transform(OneOf(in_out));
  app.add_option("--check", options.check,
                 "read every element back and compare: none, last (repetition) or all")
      ->transform(OneOf(checks));
  app.add_flag("--alloc", options.alloc, "arrays in memory of iocomp_alloc");
  app.add_option("--json", options.json, "write the result there; - means stdout");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Options::mpi_hints() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (aggregators > 0) pairs.emplace_back("cb_config_list", "*:" + std::to_string(aggregators));
  for (const std::string& hint : hints) {
    const std::size_t equals = hint.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == hint.size()) {
      throw std::runtime_error("--hint " + hint + ": it must be KEY=VALUE");
    }
    pairs.emplace_back(hint.substr(0, equals), hint.substr(equals + 1));
  }
  return pairs;
}

void declare(CLI::App& app, Options& options) {
  declare_output(app, options);
  declare_measurement(app, options);
}

}  // namespace iocomp::apps::blocks
