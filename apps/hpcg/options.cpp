// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>

#include "common/mistake.h"
#include "common/one_of.h"
#include "hpcg/multigrid.h"

namespace iocomp::apps::hpcg {
namespace {

const std::map<std::string, Format> formats{{"rows", Format::rows}, {"blocks", Format::blocks}};
const std::map<std::string, Put> puts{
    {"none", Put::nothing}, {"matrix", Put::matrix}, {"solution", Put::solution}};

std::string with_crosses(const Extents& extents) {
  std::ostringstream text;
  text << extents[0] << " x " << extents[1] << " x " << extents[2];
  return text.str();
}

Extents local_extents(const std::vector<std::int64_t>& given) {
  if (given.size() == 1) return {given[0], given[0], given[0]};
  if (given.size() == 3) return {given[0], given[1], given[2]};
  throw Mistake("--local takes one number or three: X,Y,Z");
}

void refuse_bad_sizes(const Extents& local) {
  for (const std::int64_t points : local) {
    if (points % Multigrid::granularity == 0 && points >= 2 * Multigrid::granularity) continue;
    throw Mistake("--local " + with_crosses(local) + ": " + std::to_string(points) +
                  " is no multiple of " + std::to_string(Multigrid::granularity) + " of at least " +
                  std::to_string(2 * Multigrid::granularity) + ", so it cannot be halved " +
                  std::to_string(Multigrid::levels - 1) + " times");
  }
}

void declare_problem(CLI::App& app, Options& options) {
  const auto count = CLI::Range(std::int64_t{1}, std::int64_t{1} << 30U);
  app.add_option("--local", options.local, "points of each rank: N, or X,Y,Z; multiples of 8")
      ->delimiter(',')
      ->expected(1, 3)
      ->check(count)
      ->capture_default_str();
  app.add_option("--grid", options.ranks, "ranks along each dimension: X,Y,Z; default: balanced")
      ->delimiter(',')
      ->expected(3)
      ->check(count);
  app.add_option("--format", options.format,
                 "rows: as HPCG's reference; blocks: tuned, of the same convergence")
      ->transform(OneOf(formats));
  app.add_option("--sets", options.sets, "times that the system is solved")
      ->check(CLI::Range(1, 1 << 20U))
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "of each set")
      ->check(CLI::Range(1, 1 << 20U))
      ->capture_default_str();
  app.add_flag("--checks", options.checks, "HPCG's spectral and symmetry tests, before the sets");
}

}  // namespace

std::string Options::toml() const {
  return CheckpointOptions::toml("hpcg") + ClientOptions::toml("hpcg");
}

Grid Options::grid(int rank, int ranks_that_compute) const {
  const Extents box = local_extents(local);
  refuse_bad_sizes(box);
  const Extents all =
      ranks.empty() ? balanced_ranks(ranks_that_compute) : Extents{ranks[0], ranks[1], ranks[2]};
  if (product(all) != ranks_that_compute) {
    throw Mistake("--grid " + with_crosses(all) + " has " + std::to_string(product(all)) +
                  " places, but " + std::to_string(ranks_that_compute) + " ranks compute");
  }
  return {box, all, rank};
}

void declare(CLI::App& app, Options& options) {
  declare_problem(app, options);
  app.add_option("--output", options.put, "what is put in each set: matrix, solution or none")
      ->transform(OneOf(puts));
  apps::declare(app, static_cast<CheckpointOptions&>(options), "iterations");
  apps::declare(app, static_cast<ClientOptions&>(options));
}

void refuse_contradictions(const Options& options) {
  options.CheckpointOptions::refuse_contradictions(options);
  if (options.verify && options.put == Put::nothing) {
    throw Mistake("--verify needs an output: --output matrix or solution");
  }
}

const char* name_of(Format format) noexcept { return name_in(formats, format); }
const char* name_of(Put put) noexcept { return name_in(puts, put); }

}  // namespace iocomp::apps::hpcg
