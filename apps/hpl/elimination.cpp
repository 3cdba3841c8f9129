// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/elimination.h"

#include <algorithm>

#include "hpl/scalapack.h"

namespace iocomp::apps::hpl {

Elimination::Elimination(const BlockCyclic& rows, MPI_Comm comm)
    : rows_{rows}, comm_{comm}, leading_{std::max<std::int64_t>(1, rows.count())} {}

void Elimination::apply(const Factored& factored, double* matrix, std::int64_t columns) {
  if (columns == 0) return;
  const auto count = static_cast<int>(factored.count);
  const auto width = static_cast<int>(columns);
  const auto leading = static_cast<int>(leading_);
  const auto lower_leading = static_cast<int>(factored.leading);
  const std::int64_t first = rows_.below(factored.row);
  const std::int64_t behind = rows_.below(factored.row + factored.count);
  const int owner = rows_.owner(factored.row);
  double* upper = matrix + first;
  int upper_leading = leading;
  if (owner == rows_.place()) {
    dtrsm_("L", "L", "N", "U", &count, &width, &plus_one, factored.lower, &lower_leading, upper,
           &leading, 1, 1, 1, 1);
  }
  if (rows_.places() > 1) {
    upper_.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(width));
    for (int column = 0; owner == rows_.place() && column < width; ++column) {
      std::copy_n(upper + column * leading_, count, upper_.data() + std::int64_t{column} * count);
    }
    MPI_Bcast(upper_.data(), count * width, MPI_DOUBLE, owner, comm_);
    upper = upper_.data();
    upper_leading = count;
  }
  const auto below = static_cast<int>(rows_.count() - behind);
  if (below == 0) return;
  dgemm_("N", "N", &below, &width, &count, &minus_one, factored.lower + (behind - first),
         &lower_leading, upper, &upper_leading, &plus_one, matrix + behind, &leading, 1, 1);
}

}  // namespace iocomp::apps::hpl
