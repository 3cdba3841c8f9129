// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hpl/elimination.h"
#include "hpl/layout.h"

namespace iocomp::apps::hpl {

/// A factored block of columns and its pivots, on their way to the ranks of the same row of the
/// grid.
class PanelBroadcast {
 public:
  /// @param comm  the ranks of a row of the grid, by column.
  PanelBroadcast(const Layout& layout, MPI_Comm comm);
  PanelBroadcast(const PanelBroadcast&) = delete;
  PanelBroadcast& operator=(const PanelBroadcast&) = delete;
  ~PanelBroadcast();

  /// Begin to send the block that begins at a column, or to receive it. Collective over `comm`.
  /// @param pivots  of the block; those of its owner reach all. They stay where they are until
  ///                wait() returns.
  void start(const double* matrix, std::int64_t column, std::span<std::int64_t> pivots);
  /// Let MPI make the progress that is possible now.
  void progress();
  void wait();
  /// The block, once it is there; as long as the owner does not change it.
  [[nodiscard]] const Elimination::Factored& factored() const noexcept { return factored_; }

 private:
  Layout layout_;
  MPI_Comm comm_;
  std::vector<double> values_{};
  Elimination::Factored factored_{};
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace iocomp::apps::hpl
