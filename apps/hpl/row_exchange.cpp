// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/row_exchange.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace iocomp::apps::hpl {
namespace {

constexpr std::int64_t values_at_once = std::int64_t{1} << 17U;

}  // namespace

void RowExchange::Side::take(const std::vector<std::vector<std::int64_t>>& by_rank) {
  rows.clear();
  first.assign(1, 0);
  for (const auto& of_rank : by_rank) {
    rows.insert(rows.end(), of_rank.begin(), of_rank.end());
    first.push_back(static_cast<int>(rows.size()));
  }
  counts.resize(by_rank.size());
  places.resize(by_rank.size());
}

void RowExchange::Side::prepare(std::int64_t columns) {
  values.resize(rows.size() * static_cast<std::size_t>(columns));
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    counts[rank] = (first[rank + 1] - first[rank]) * static_cast<int>(columns);
    places[rank] = first[rank] * static_cast<int>(columns);
  }
}

RowExchange::RowExchange(const BlockCyclic& rows, MPI_Comm comm)
    : rows_{rows},
      comm_{comm},
      leading_{std::max<std::int64_t>(1, rows.count())},
      origin_(static_cast<std::size_t>(rows.size())) {
  std::iota(origin_.begin(), origin_.end(), std::int64_t{0});
}

void RowExchange::plan(std::int64_t first, std::span<const std::int64_t> pivots) {
  std::vector<std::int64_t> touched;
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    const std::int64_t row = first + static_cast<std::int64_t>(i);
    touched.push_back(row);
    touched.push_back(pivots[i]);
    std::swap(origin_[static_cast<std::size_t>(row)], origin_[static_cast<std::size_t>(pivots[i])]);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());

  // The sender and the receiver list the rows in the same order.
  std::vector<std::pair<std::int64_t, std::int64_t>> moves;  // from, to
  for (const std::int64_t row : touched) {
    const std::int64_t from = std::exchange(origin_[static_cast<std::size_t>(row)], row);
    if (from != row) moves.emplace_back(from, row);
  }
  const auto places = static_cast<std::size_t>(rows_.places());
  std::vector<std::vector<std::int64_t>> sent(places);
  std::vector<std::vector<std::int64_t>> received(places);
  std::vector<std::array<std::int64_t, 2>> load(places);
  for (const auto& [from, to] : moves) {
    const auto sender = static_cast<std::size_t>(rows_.owner(from));
    const auto receiver = static_cast<std::size_t>(rows_.owner(to));
    ++load[sender][0];
    ++load[receiver][1];
    if (rows_.owner(from) == rows_.place()) sent[receiver].push_back(rows_.local(from));
    if (rows_.owner(to) == rows_.place()) received[sender].push_back(rows_.local(to));
  }
  out_.take(sent);
  in_.take(received);
  busiest_ = 0;
  for (const auto& [out, in] : load) busiest_ = std::max({busiest_, out, in});
}

void RowExchange::apply(double* matrix, std::int64_t columns) {
  if (rows_.places() == 1) return apply_here(matrix, columns);
  if (busiest_ == 0) return;
  const std::int64_t at_once = std::max<std::int64_t>(1, values_at_once / busiest_);
  for (std::int64_t begin = 0; begin < columns; begin += at_once) {
    const std::int64_t count = std::min(at_once, columns - begin);
    double* const first = matrix + begin * leading_;
    out_.prepare(count);
    in_.prepare(count);
    for (std::size_t rank = 0; rank < out_.counts.size(); ++rank) {
      double* to = out_.values.data() + out_.places[rank];
      for (std::int64_t column = 0; column < count; ++column) {
        for (int i = out_.first[rank]; i < out_.first[rank + 1]; ++i) {
          *to++ = first[column * leading_ + out_.rows[static_cast<std::size_t>(i)]];
        }
      }
    }
    MPI_Alltoallv(out_.values.data(), out_.counts.data(), out_.places.data(), MPI_DOUBLE,
                  in_.values.data(), in_.counts.data(), in_.places.data(), MPI_DOUBLE, comm_);
    for (std::size_t rank = 0; rank < in_.counts.size(); ++rank) {
      const double* from = in_.values.data() + in_.places[rank];
      for (std::int64_t column = 0; column < count; ++column) {
        for (int i = in_.first[rank]; i < in_.first[rank + 1]; ++i) {
          first[column * leading_ + in_.rows[static_cast<std::size_t>(i)]] = *from++;
        }
      }
    }
  }
}

void RowExchange::apply_here(double* matrix, std::int64_t columns) {
  const std::size_t moves = out_.rows.size();
  out_.values.resize(moves);
  double* const between = out_.values.data();
  for (std::int64_t column = 0; column < columns; ++column) {
    double* const values = matrix + column * leading_;
    for (std::size_t i = 0; i < moves; ++i) between[i] = values[out_.rows[i]];
    for (std::size_t i = 0; i < moves; ++i) values[in_.rows[i]] = between[i];
  }
}

}  // namespace iocomp::apps::hpl
