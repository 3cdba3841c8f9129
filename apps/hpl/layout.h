// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "common/runs_part.h"
#include "hpl/block_cyclic.h"

namespace iocomp::apps::hpl {

/// The rows and columns of a square matrix that one rank has. They are dealt out in blocks to a
/// grid of ranks. In memory its columns follow one another, without gaps.
struct Layout {
  BlockCyclic rows;
  BlockCyclic columns;

  [[nodiscard]] std::int64_t size() const noexcept { return rows.size(); }
  [[nodiscard]] std::int64_t block() const noexcept { return rows.block(); }
  [[nodiscard]] std::size_t elements() const noexcept {
    return static_cast<std::size_t>(rows.count() * columns.count());
  }
};

/// Call `body` with each piece of the local matrix that follows one another in memory and in the
/// whole matrix: its place in memory, the global indices of its first row and of its column, and
/// its length.
template <typename Body>
void for_each_piece(const Layout& layout, Body&& body) {
  const std::int64_t rows = layout.rows.count();
  const std::int64_t length = layout.rows.places() == 1 ? rows : layout.block();
  for (std::int64_t column = 0; column < layout.columns.count(); ++column) {
    for (std::int64_t row = 0; row < rows; row += length) {
      body(column * rows + row, layout.rows.global(row), layout.columns.global(column),
           length < rows - row ? length : rows - row);
    }
  }
}

/// That of a vector, which the ranks of the first column of the grid have.
[[nodiscard]] inline Layout vector_layout(const Layout& layout) noexcept {
  const bool is_there = layout.columns.place() == 0;
  return {layout.rows, BlockCyclic{is_there ? 1 : 0, 1, 1, 0}};
}

/// The pieces of a rank in a file that has the columns one after the other.
[[nodiscard]] std::vector<Run> runs_of(const Layout& layout);

}  // namespace iocomp::apps::hpl
