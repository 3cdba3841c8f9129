// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <limits>
#include <map>
#include <sstream>

#include "common/memory_of_node.h"
#include "common/mistake.h"
#include "common/one_of.h"

namespace iocomp::apps::hpl {
namespace {

const std::map<std::string, Put> puts{
    {"none", Put::nothing}, {"solution", Put::solution}, {"factors", Put::factors}};

std::string in_words(const GridShape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
}

std::string in_gib(double bytes) {
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << bytes / gib << " GiB";
  return text.str();
}

void declare_problem(CLI::App& app, Options& options) {
  constexpr int many = 1 << 30U;
  app.add_option("--size", options.size, "N: rows and columns of the matrix")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{std::numeric_limits<int>::max()}))
      ->capture_default_str();
  app.add_option("--block", options.block, "NB: rows and columns of the blocks that are dealt out")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20U))
      ->capture_default_str();
  app.add_option("--grid", options.grid, "rows and columns of ranks: P,Q; default: nearly square")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::Range(1, many));
  app.add_option("--repetitions", options.repetitions, "systems that are solved, one by one")
      ->check(CLI::Range(1, many))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the matrices")->capture_default_str();
}

}  // namespace

std::string Options::toml() const {
  return CheckpointOptions::toml("hpl") + ClientOptions::toml("hpl");
}

GridShape Options::grid_shape(int ranks_that_compute) const {
  if (grid.empty()) return balanced_grid(ranks_that_compute);
  const GridShape shape{grid[0], grid[1]};
  if (std::int64_t{shape.rows} * shape.columns != ranks_that_compute) {
    throw Mistake("--grid " + in_words(shape) + " has " +
                  std::to_string(std::int64_t{shape.rows} * shape.columns) + " places, but " +
                  std::to_string(ranks_that_compute) +
                  " ranks compute: without --grid they lie as " +
                  in_words(balanced_grid(ranks_that_compute)));
  }
  return shape;
}

void Options::refuse_bad_sizes(MPI_Comm comm, const GridShape& shape) const {
  const std::int64_t blocks = (size + block - 1) / block;
  const int most = std::max(shape.rows, shape.columns);
  if (blocks < most) {
    const std::int64_t fitting = size / most;
    throw Mistake("--size " + std::to_string(size) + " gives " + std::to_string(blocks) +
                  (blocks == 1 ? " block" : " blocks") + " of --block " + std::to_string(block) +
                  ", too few for a grid of " + in_words(shape) + " ranks: " +
                  (fitting > 0 ? "take --block " + std::to_string(fitting) + " or less"
                               : "take fewer ranks"));
  }
  const Layout largest{{size, block, shape.rows, 0}, {size, block, shape.columns, 0}};
  if (largest.elements() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Mistake("--size " + std::to_string(size) + ": each of " + in_words(shape) +
                  " ranks would have " + std::to_string(largest.elements()) +
                  " elements of the matrix, ScaLAPACK counts to 2147483647: take more ranks");
  }
  constexpr double others = 1.05;  // panels, buffers
  const double bytes =
      others * matrices() * static_cast<double>(largest.elements()) * sizeof(double);
  const MemoryOfNode node = memory_of_node(comm, bytes);
  if (!node.is_enough()) {
    throw Mistake("--size " + std::to_string(size) + ": the ranks of a node want " +
                  in_gib(node.wanted_bytes) + " for " + std::to_string(matrices()) +
                  " matrices, it has " + in_gib(node.free_bytes) +
                  " free: take a smaller size, or more nodes");
  }
}

void Options::refuse_contradictions() const {
  CheckpointOptions::refuse_contradictions(*this);
  if (verify && put == Put::nothing) {
    throw Mistake("--verify needs an output: --output solution or factors");
  }
}

void declare(CLI::App& app, Options& options) {
  declare_problem(app, options);
  const std::map<std::string, bool> on_off{{"on", true}, {"off", false}};
  app.add_option("--output", options.put, "what is put in each repetition: factors, solution, none")
      ->transform(OneOf(puts));
  app.add_option("--progress", options.progress,
                 "call iocomp_progress before each block of columns: on or off")
      ->transform(OneOf(on_off));
  apps::declare(app, static_cast<CheckpointOptions&>(options), "repetitions");
  apps::declare(app, static_cast<ClientOptions&>(options));
}

const char* name_of(Put put) noexcept { return name_in(puts, put); }

}  // namespace iocomp::apps::hpl
