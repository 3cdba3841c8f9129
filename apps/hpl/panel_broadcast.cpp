// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/panel_broadcast.h"

#include <algorithm>

namespace iocomp::apps::hpl {

PanelBroadcast::PanelBroadcast(const Layout& layout, MPI_Comm comm)
    : layout_{layout}, comm_{comm} {}

PanelBroadcast::~PanelBroadcast() { wait(); }

void PanelBroadcast::start(const double* matrix, std::int64_t column,
                           std::span<std::int64_t> pivots) {
  const std::int64_t leading = std::max<std::int64_t>(1, layout_.rows.count());
  const std::int64_t first = layout_.rows.below(column);
  const std::int64_t rows = layout_.rows.count() - first;
  const auto count = static_cast<std::int64_t>(pivots.size());
  const int owner = layout_.columns.owner(column);
  const bool is_own = owner == layout_.columns.place();
  const double* const own = matrix + layout_.columns.below(column) * leading + first;
  factored_ = {column, count, own, leading};
  if (layout_.columns.places() == 1) return;
  values_.resize(static_cast<std::size_t>(rows * count));
  for (std::int64_t i = 0; is_own && i < count; ++i) {
    std::copy_n(own + i * leading, rows, values_.data() + i * rows);
  }
  factored_.lower = values_.data();
  factored_.leading = std::max<std::int64_t>(1, rows);
  MPI_Ibcast(pivots.data(), static_cast<int>(count), MPI_INT64_T, owner, comm_, &requests_[0]);
  MPI_Ibcast(values_.data(), static_cast<int>(values_.size()), MPI_DOUBLE, owner, comm_,
             &requests_[1]);
}

void PanelBroadcast::progress() {
  int ignored = 0;
  MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &ignored, MPI_STATUSES_IGNORE);
}

void PanelBroadcast::wait() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace iocomp::apps::hpl
