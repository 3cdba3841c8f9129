// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "blocks/block.h"
#include "blocks/options.h"

namespace iocomp::apps::blocks {

/// The file that a rank writes, and its part of it.
class Part {
 public:
  /// shared: the global array; process: the rank's block; node: the packed blocks of its ranks, one
  /// after the other. Collective over `compute`.
  Part(Layout layout, int node_size, MPI_Comm compute, const Block& global);
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part();  ///< collective over its ranks, like MPI_Comm_free

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] const Block& block() const noexcept { return block_; }
  /// The suffix of the file's name: "", "-rank3", "-node0".
  [[nodiscard]] const std::string& suffix() const noexcept { return suffix_; }
  [[nodiscard]] bool is_global() const noexcept { return layout_ == Layout::shared; }

 private:
  Layout layout_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Block block_;
  std::string suffix_;
};

/// The suffixes that there can be in a job of so many ranks.
[[nodiscard]] std::vector<std::string> suffixes(Layout layout, int ranks);

}  // namespace iocomp::apps::blocks
