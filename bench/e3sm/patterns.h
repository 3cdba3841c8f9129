// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace iocomp::bench {

/// Runs of one rank in an array: the same for all variables that are distributed alike.
struct Pattern {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> first;  ///< the index of each run in the whole array, ascending
  std::vector<std::int64_t> count;
  std::int64_t elements = 0;
};

/// A pattern, and the number of variables of a case that have it.
struct Group {
  Pattern pattern;
  int variables = 0;
};

/// The variables that a component of E3SM writes in a step, by a formula: shapes, the length of
/// runs and the share of variables are like those of E3SM-IO's cases.
/// - f, the atmosphere: columns of spectral elements in clumps of 1 to 4, the level comes first.
/// - g, the ocean: cells in clumps of 1 to 4, each with all of its 60 levels behind one another.
/// - i, the land: cells of a grid of latitudes and longitudes in clumps of 1 to 8 and with gaps of
///   sea; most variables have no levels.
/// @param cells  of the whole mesh.
[[nodiscard]] std::vector<Group> groups_of(char which, std::int64_t cells, int rank, int ranks);

}  // namespace iocomp::bench
