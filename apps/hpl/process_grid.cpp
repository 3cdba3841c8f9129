// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/process_grid.h"

#include <algorithm>

#include "hpl/scalapack.h"

namespace iocomp::apps::hpl {

GridShape balanced_grid(int ranks) {
  int rows = 1;
  for (int tried = 2; tried * tried <= ranks; ++tried) {
    if (ranks % tried == 0) rows = tried;
  }
  return {rows, ranks / rows};
}

ProcessGrid::ProcessGrid(MPI_Comm comm, const GridShape& shape)
    : shape_{shape}, system_handle_{Csys2blacs_handle(comm)}, context_{system_handle_} {
  Cblacs_gridinit(&context_, "Row-major", shape.rows, shape.columns);
  int rows = 0;
  int columns = 0;
  Cblacs_gridinfo(context_, &rows, &columns, &row_, &column_);
  MPI_Comm_split(comm, row_, column_, &row_comm_);
  MPI_Comm_split(comm, column_, row_, &column_comm_);
}

ProcessGrid::~ProcessGrid() {
  MPI_Comm_free(&row_comm_);
  MPI_Comm_free(&column_comm_);
  Cblacs_gridexit(context_);
  Cfree_blacs_system_handle(system_handle_);
}

Layout ProcessGrid::layout(std::int64_t size, std::int64_t block) const noexcept {
  return {{size, block, shape_.rows, row_}, {size, block, shape_.columns, column_}};
}

Descriptor ProcessGrid::descriptor(const Layout& layout, bool is_vector) const noexcept {
  const auto size = static_cast<int>(layout.size());
  const auto block = static_cast<int>(layout.block());
  const auto leading = std::max(1, static_cast<int>(layout.rows.count()));
  return {1, context_, size, is_vector ? 1 : size, block, block, 0, 0, leading};
}

}  // namespace iocomp::apps::hpl
