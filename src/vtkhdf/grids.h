// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/link_file.h"
#include "reading/input.h"

namespace iocomp::vtkhdf {

/// A grid that VTK can show, with the variables on it: a VTKHDF file for itself.
struct Grid {
  std::string name;  ///< of a mesh "mesh", of others their shape: "3x4x5"
  std::string kind;  ///< in VTKHDF's words: ImageData, RectilinearGrid, UnstructuredGrid
  std::vector<std::int64_t> steps;  ///< their numbers, ascending
  std::vector<std::string> variables;
  formats::LinkFile file;
};

/// A variable that VTK cannot show.
struct LeftOut {
  std::string variable;
  std::string reason;
};

struct Grids {
  std::vector<Grid> grids;
  std::vector<LeftOut> left_out;
};

/// The part of a committed file that VTK can show. No values are read but those of coordinates.
///
/// - The unstructured mesh, if its attributes tell of one (vtkhdf/mesh.h), with the variables that
///   have a row for each of its points or cells.
/// - Other variables of one to three dimensions; of four, if the last one is at most 9: these are
///   components. Those of the same shape and coordinates share a grid. Where the attribute
///   `dimensions` of a variable names variables of one dimension, these are coordinates. Else the
///   attributes `origin` and `spacing` of the variable, or of the file, give a number for each
///   dimension, slowest first; without them 0 and 1.
///
/// A step shows the last values that a variable has got. Before the first it shows NaN, or 0.
/// @param is_beside  the link files lie in the folder of the data, and move with it.
/// @throws Error{unsupported} for a format whose values cannot be linked to;
/// Error{invalid_argument} for a mesh that is none; Error{storage_failure}.
[[nodiscard]] Grids grids_of(reading::Input& input, bool is_beside);

}  // namespace iocomp::vtkhdf
