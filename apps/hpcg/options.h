// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common/client_options.h"
#include "hpcg/grid.h"
#include "hpcg/operator.h"

namespace CLI {
class App;
}

namespace iocomp::apps::hpcg {

/// The objects that are put once in every set.
enum class Put {
  nothing,
  matrix,   ///< the coefficients of the finest matrix, without padding
  solution  ///< x as the set before has left it
};

struct Options : ClientOptions, CheckpointOptions {
  std::vector<std::int64_t> local{104};  ///< points of a rank: along x, y, z; one: the same for all
  std::vector<std::int64_t> ranks{};     ///< along x, y, z; empty: balanced
  Format format = Format::rows;
  Put put = Put::matrix;
  int sets = 10;
  int iterations = 50;  ///< of a set; checkpoints count them too
  bool checks = false;

  /// The settings of the program as TOML.
  [[nodiscard]] std::string toml() const;
  /// The box of a rank, and how many of them there are along x, y and z.
  /// @throws Mistake for sizes that four grids cannot have, or ranks that do not fit.
  [[nodiscard]] Grid grid(int rank, int ranks_that_compute) const;
};

/// Declare the options; `options` must live until they are parsed.
void declare(CLI::App& app, Options& options);

/// @throws Mistake for options that exclude one another.
void refuse_contradictions(const Options& options);

[[nodiscard]] const char* name_of(Format format) noexcept;
[[nodiscard]] const char* name_of(Put put) noexcept;

}  // namespace iocomp::apps::hpcg
