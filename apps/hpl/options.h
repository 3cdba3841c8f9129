// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/client_options.h"
#include "hpl/process_grid.h"

namespace CLI {
class App;
}

namespace iocomp::apps::hpl {

/// The arrays that are put in every repetition.
enum class Put {
  nothing,
  solution,  ///< x
  factors    ///< L and U, where the matrix was, and the pivots
};

struct Options : ClientOptions, CheckpointOptions {
  std::int64_t size = 2000;  ///< rows of the matrix
  std::int64_t block = 128;  ///< rows and columns of a block
  std::vector<int> grid{};   ///< rows and columns of ranks; empty: as square as they can lie
  int repetitions = 5;
  std::uint64_t seed = 1;
  Put put = Put::factors;
  bool progress = false;  ///< call iocomp_progress before each block of columns

  /// The settings of the program as TOML.
  [[nodiscard]] std::string toml() const;
  /// Matrices of a rank: one that is put stays as it is while the next one is factored.
  [[nodiscard]] int matrices() const noexcept {
    return put == Put::factors || checkpoint_every > 0 || restart ? 2 : 1;
  }
  /// @throws Mistake for ranks that do not fit.
  [[nodiscard]] GridShape grid_shape(int ranks_that_compute) const;
  /// Collective over `comm`. @throws Mistake for sizes that do not fit the grid, or the memory.
  void refuse_bad_sizes(MPI_Comm comm, const GridShape& shape) const;
  /// @throws Mistake for options that exclude one another.
  void refuse_contradictions() const;
};

/// Declare the options; `options` must live until they are parsed.
void declare(CLI::App& app, Options& options);

[[nodiscard]] const char* name_of(Put put) noexcept;

}  // namespace iocomp::apps::hpl
