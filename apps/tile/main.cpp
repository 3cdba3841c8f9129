// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "blocks/client.h"
#include "common/program.h"

namespace iocomp::apps::tile {
namespace {

/// Rows first, as in the file.
struct Options {
  blocks::Options common;
  std::vector<int> tiles;            ///< per dimension; empty: balanced
  blocks::Extents size{1024, 1024};  ///< elements of a tile per dimension
  blocks::Extents overlap{0, 0};     ///< read so many of each neighbour's, per dimension
  std::int64_t element_bytes = 32;
};

constexpr std::size_t dimensions = 2;

/// The tile, and on each side that has a neighbour the overlap.
blocks::Box with_overlap(const Options& options, const blocks::Block& block) {
  blocks::Box box = block.own;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t begin = std::max(std::int64_t{0}, box.start[d] - options.overlap[d]);
    const std::int64_t end =
        std::min(block.shape[d], box.start[d] + box.count[d] + options.overlap[d]);
    box.start[d] = begin;
    box.count[d] = end - begin;
  }
  return box;
}

blocks::Case make_case(const Options& options, int rank, int ranks, nlohmann::json& about) {
  std::vector<int> tiles = options.tiles;
  if (tiles.empty()) tiles = blocks::balanced_grid(ranks, dimensions);
  if (tiles[0] * tiles[1] != ranks) {
    throw std::runtime_error("--tiles has " + std::to_string(tiles[0] * tiles[1]) + " tiles, but " +
                             std::to_string(ranks) + " ranks compute");
  }
  // An element is so many doubles: the last dimension, which nobody cuts.
  blocks::Block block;
  block.shape = {tiles[0] * options.size[0], tiles[1] * options.size[1],
                 options.element_bytes / static_cast<std::int64_t>(sizeof(double))};
  block.own = blocks::part_of(block.shape, {tiles[0], tiles[1], 1}, rank);
  about["tiles"] = tiles;
  about["tile_size"] = options.size;
  about["element_bytes"] = options.element_bytes;
  about["overlap"] = options.overlap;
  return {block, with_overlap(options, block)};
}

}  // namespace
}  // namespace iocomp::apps::tile

int main(int argc, char** argv) {
  using iocomp::apps::tile::dimensions;
  iocomp::apps::tile::Options options;
  options.common.read = true;
  CLI::App app{"Writes and reads a dense 2-D array in tiles, one per rank, as MPI-Tile-IO does",
               "tile"};
  const auto extent = CLI::Range(std::int64_t{1}, std::int64_t{1} << 40U);
  app.add_option("--tiles", options.tiles, "tiles per dimension: ROWS,COLUMNS; default: balanced")
      ->delimiter(',')
      ->expected(dimensions)
      ->check(CLI::Range(1, 1 << 20U));
  app.add_option("--size", options.size, "elements of a tile: ROWS,COLUMNS")
      ->delimiter(',')
      ->expected(dimensions)
      ->check(extent)
      ->capture_default_str();
  app.add_option("--element", options.element_bytes, "bytes of an element, a multiple of 8")
      ->check(CLI::Range(std::int64_t{8}, std::int64_t{1} << 30U))
      ->check([](const std::string& text) {
        return std::stoll(text) % 8 == 0 ? "" : "not a multiple of 8: " + text;
      })
      ->capture_default_str();
  app.add_option("--overlap", options.overlap,
                 "read so many elements of each neighbouring tile too: ROWS,COLUMNS")
      ->delimiter(',')
      ->expected(dimensions)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40U))
      ->capture_default_str();
  app.add_flag("!--no-read", options.common.read, "do not read");
  iocomp::apps::blocks::declare(app, options.common);
  return iocomp::apps::run_program(argc, argv, app, [&] {
    return iocomp::apps::blocks::run(
        options.common, "tile", [&](int rank, int ranks, nlohmann::json& about) {
          return iocomp::apps::tile::make_case(options, rank, ranks, about);
        });
  });
}
