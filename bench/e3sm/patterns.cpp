// SPDX-License-Identifier: BSD-3-Clause
#include "e3sm/patterns.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace iocomp::bench {
namespace {

/// Clumps of cells, dealt out to the ranks at random; the same deal on all ranks.
Pattern dealt(std::int64_t cells, unsigned longest, double sea, int rank, int ranks) {
  std::mt19937_64 generator{1};
  std::uniform_real_distribution<double> chance{0, 1};
  Pattern pattern;
  pattern.shape = {cells};
  for (std::int64_t cell = 0; cell < cells;) {
    const auto wanted = static_cast<std::int64_t>(1 + generator() % longest);
    const std::int64_t length = std::min(wanted, cells - cell);
    const bool is_sea = chance(generator) < sea;
    const auto owner = static_cast<int>(generator() % static_cast<unsigned>(ranks));
    if (!is_sea && owner == rank) {
      pattern.first.push_back(cell);
      pattern.count.push_back(length);
      pattern.elements += length;
    }
    cell += length;
  }
  return pattern;
}

/// The same cells in each level; levels come first.
Pattern by_level(const Pattern& cells, std::int64_t levels) {
  Pattern pattern;
  pattern.shape = {levels, cells.shape.front()};
  for (std::int64_t level = 0; level < levels; ++level) {
    for (std::size_t run = 0; run < cells.first.size(); ++run) {
      pattern.first.push_back(level * cells.shape.front() + cells.first[run]);
      pattern.count.push_back(cells.count[run]);
    }
  }
  pattern.elements = cells.elements * levels;
  return pattern;
}

/// All levels of a cell behind one another.
Pattern with_levels(const Pattern& cells, std::int64_t levels) {
  Pattern pattern = cells;
  pattern.shape = {cells.shape.front(), levels};
  pattern.elements *= levels;
  for (std::size_t run = 0; run < cells.first.size(); ++run) {
    pattern.first[run] *= levels;
    pattern.count[run] *= levels;
  }
  return pattern;
}

}  // namespace

std::vector<Group> groups_of(char which, std::int64_t cells, int rank, int ranks) {
  constexpr std::int64_t levels_of_air = 72;
  constexpr std::int64_t levels_of_sea = 60;
  constexpr std::int64_t levels_of_ground = 15;
  constexpr double sea = 0.7;
  std::vector<Group> groups;
  if (which == 'f') {
    const Pattern columns = dealt(cells, 4, 0, rank, ranks);
    groups.push_back({by_level(columns, levels_of_air), 8});
    groups.push_back({columns, 24});
  } else if (which == 'g') {
    const Pattern columns = dealt(cells, 4, 0, rank, ranks);
    groups.push_back({with_levels(columns, levels_of_sea), 8});
    groups.push_back({columns, 8});
  } else if (which == 'i') {
    const Pattern land = dealt(cells, 8, sea, rank, ranks);
    groups.push_back({by_level(land, levels_of_ground), 8});
    groups.push_back({land, 96});
  } else {
    throw std::invalid_argument{std::string{"no case "} + which + ": f, g or i"};
  }
  return groups;
}

}  // namespace iocomp::bench
