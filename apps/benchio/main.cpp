// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "blocks/client.h"
#include "common/program.h"

namespace iocomp::apps::benchio {
namespace {

struct Options {
  blocks::Options common;
  blocks::Extents global{256, 256, 256};  ///< extents of the array: strong scaling
  blocks::Extents per_rank;               ///< extents of each block instead: weak scaling
  std::vector<int> grid;                  ///< ranks per dimension; empty: balanced
};

constexpr std::size_t dimensions = 3;

blocks::Case make_case(const Options& options, int rank, int ranks, nlohmann::json& about) {
  std::vector<int> grid = options.grid;
  if (grid.empty()) grid = blocks::balanced_grid(ranks, dimensions);
  if (grid[0] * grid[1] * grid[2] != ranks) {
    throw std::runtime_error("--grid has " + std::to_string(grid[0] * grid[1] * grid[2]) +
                             " places, but " + std::to_string(ranks) + " ranks compute");
  }
  blocks::Extents shape = options.global;
  if (!options.per_rank.empty()) {
    for (std::size_t d = 0; d < dimensions; ++d) shape[d] = options.per_rank[d] * grid[d];
  }
  const blocks::Box own = blocks::part_of(shape, grid, rank);
  about["grid"] = grid;
  about["scaling"] = options.per_rank.empty() ? "strong" : "weak";
  return {{shape, own}, own};
}

}  // namespace
}  // namespace iocomp::apps::benchio

int main(int argc, char** argv) {
  using iocomp::apps::benchio::dimensions;
  iocomp::apps::benchio::Options options;
  CLI::App app{"Writes a 3-D array of doubles from a 3-D grid of ranks, again and again",
               "benchio"};
  const auto extent = CLI::Range(std::int64_t{1}, std::int64_t{1} << 40U);
  auto* const global =
      app.add_option("--size", options.global, "extents of the array: X,Y,Z (strong scaling)")
          ->delimiter(',')
          ->expected(dimensions)
          ->check(extent)
          ->capture_default_str();
  app.add_option("--per-rank", options.per_rank,
                 "extents of each rank's block instead: X,Y,Z (weak scaling)")
      ->delimiter(',')
      ->expected(dimensions)
      ->check(extent)
      ->excludes(global);
  app.add_option("--grid", options.grid, "ranks per dimension: PX,PY,PZ; default: balanced")
      ->delimiter(',')
      ->expected(dimensions)
      ->check(CLI::Range(1, 1 << 20U));
  app.add_flag("--read", options.common.read, "time reading the blocks back too");
  iocomp::apps::blocks::declare(app, options.common);
  return iocomp::apps::run_program(argc, argv, app, [&] {
    return iocomp::apps::blocks::run(
        options.common, "benchio", [&](int rank, int ranks, nlohmann::json& about) {
          return iocomp::apps::benchio::make_case(options, rank, ranks, about);
        });
  });
}
