// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/block_operator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

#include "hpcg/csr_operator.h"

namespace iocomp::apps::hpcg {
namespace {

constexpr int least_in_slot = 4;  // of entries in columns of neighbours: fewer are kept one by one

/// Eight numbers, one for each row of a block.
using Lanes = double __attribute__((vector_size(BlockOperator::lanes * sizeof(double))));

inline Lanes load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline Lanes load(const std::array<double, BlockOperator::lanes>& from) {
  return load(from.data());
}

}  // namespace

/// Makes blocks of rows.
class BlockOperator::Builder {
 public:
  Builder(BlockOperator& made, const Matrix& matrix) : made_{made}, matrix_{matrix} {
    made_.blocks_.emplace_back();
  }

  void add(std::int64_t row, std::int64_t rows) {
    row_ = row;
    rows_ = rows;
    block_ = &made_.blocks_.back();
    block_->row = static_cast<std::int32_t>(row);
    block_->rows = static_cast<std::int32_t>(rows);
    near_ = {};
    near_.diagonal.lane.fill(1.0);
    slots_.clear();
    for (std::int64_t lane = 0; lane < rows; ++lane) take_row(lane);
    finish();
  }

 private:
  void take_row(std::int64_t lane) {
    const auto row = static_cast<std::size_t>(row_ + lane);
    for (std::int64_t i = matrix_.begin()[row]; i < matrix_.begin()[row + 1]; ++i) {
      const auto entry = static_cast<std::size_t>(i);
      take_entry(lane, matrix_.columns()[entry], matrix_.values()[entry]);
    }
  }

  void take_entry(std::int64_t lane, std::int64_t column, double value) {
    const std::int64_t distance = column - (row_ + lane);
    if (column >= matrix_.rows() || distance < -1 || distance > 1) {
      if (column >= row_ && column < row_ + rows_) {
        throw std::logic_error("rows of a block depend on others than those beside them");
      }
      slots_[column - lane].push_back(
          {static_cast<std::int32_t>(lane), static_cast<std::int32_t>(column), value});
      return;
    }
    Values& values = distance < 0 ? near_.before : (distance == 0 ? near_.diagonal : near_.behind);
    values.lane[static_cast<std::size_t>(lane)] = value;
  }

  // The order is by column, so entries before the block come first, and neighbours last.
  void finish() {
    for (const auto& [column, entries] : slots_) {
      const bool is_own = entries.front().column < matrix_.rows();
      // A slot cannot begin before the vector, even if it has no entry there.
      if (column < 0 || (!is_own && entries.size() < least_in_slot)) {
        made_.singles_.insert(made_.singles_.end(), entries.begin(), entries.end());
        if (is_own) block_->own_singles += static_cast<std::int64_t>(entries.size());
      } else {
        add_slot(column < row_ ? made_.earlier_ : made_.later_, column, entries);
      }
    }
    made_.near_.push_back(near_);
    made_.blocks_.push_back({static_cast<std::int32_t>(row_ + rows_), 0,
                             static_cast<std::int64_t>(made_.earlier_.columns.size()),
                             static_cast<std::int64_t>(made_.later_.columns.size()),
                             static_cast<std::int64_t>(made_.singles_.size()), 0});
  }

  static void add_slot(Slots& slots, std::int64_t column, const std::vector<Single>& entries) {
    Values values{};
    for (const Single& entry : entries)
      values.lane[static_cast<std::size_t>(entry.lane)] = entry.value;
    slots.values.push_back(values);
    slots.columns.push_back(static_cast<std::int32_t>(column));
  }

  BlockOperator& made_;
  const Matrix& matrix_;
  std::int64_t row_ = 0;
  std::int64_t rows_ = 0;
  Block* block_ = nullptr;
  Near near_{};
  std::map<std::int64_t, std::vector<Single>> slots_{};
};

/// The computing on block `i`.
struct BlockOperator::Arithmetic {
  const BlockOperator& of;
  const double* x;

  /// `sum` - the entries of some slots times x.
  [[nodiscard]] static Lanes less(Lanes sum, const Slots& slots, std::int64_t begin,
                                  std::int64_t end, const double* x) {
    const Values* const values = slots.values.data();
    const std::int32_t* const columns = slots.columns.data();
    for (std::int64_t i = begin; i < end; ++i) {
      sum -= load(values[i].lane) * load(x + columns[i]);
    }
    return sum;
  }

  /// The same in descending order, for a sweep that goes back through memory. The processor
  /// foresees ascending addresses better.
  [[nodiscard]] static Lanes less_back(Lanes sum, const Slots& slots, std::int64_t begin,
                                       std::int64_t end, const double* x) {
    constexpr std::int64_t ahead = 24;
    const Values* const values = slots.values.data();
    const std::int32_t* const columns = slots.columns.data();
    for (std::int64_t i = end; i-- > begin;) {
      __builtin_prefetch(values + std::max<std::int64_t>(i - ahead, 0));
      sum -= load(values[i].lane) * load(x + columns[i]);
    }
    return sum;
  }

  /// `sum` - entries that are in no slot.
  [[nodiscard]] Lanes less_singles(Lanes sum, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; ++i) {
      const Single& single = of.singles_[static_cast<std::size_t>(i)];
      sum[single.lane] -= single.value * x[single.column];
    }
    return sum;
  }

  /// `sum` - all that is before the block, if all else is zero.
  [[nodiscard]] Lanes less_earlier(Lanes sum, const Block* block) const {
    sum = less(sum, of.earlier_, block[0].earlier, block[1].earlier, x);
    return less_singles(sum, block[0].single, block[0].single + block[0].own_singles);
  }

  /// `sum` - all that is not near.
  [[nodiscard]] Lanes less_far(Lanes sum, const Block* block) const {
    sum = less(sum, of.earlier_, block[0].earlier, block[1].earlier, x);
    sum = less(sum, of.later_, block[0].later, block[1].later, x);
    return less_singles(sum, block[0].single, block[1].single);
  }

  [[nodiscard]] Lanes less_far_back(Lanes sum, const Block* block) const {
    sum = less_back(sum, of.later_, block[0].later, block[1].later, x);
    sum = less_back(sum, of.earlier_, block[0].earlier, block[1].earlier, x);
    return less_singles(sum, block[0].single, block[1].single);
  }

  /// x one before each row. Before the first row of all there is nothing.
  [[nodiscard]] Lanes before(const Block* block) const {
    if (block->row > 0) return load(x + block->row - 1);
    Lanes shifted{};
    for (std::int64_t lane = 1; lane < lanes; ++lane) shifted[lane] = x[lane - 1];
    return shifted;
  }

  [[nodiscard]] Lanes product(std::size_t i) const {
    const Block* const block = &of.blocks_[i];
    const Near& near = of.near_[i];
    Lanes sum = -less_far(Lanes{}, block);
    sum += load(near.before.lane) * before(block);
    sum += load(near.diagonal.lane) * load(x + block->row);
    return sum + load(near.behind.lane) * load(x + block->row + 1);
  }
};

namespace {

/// x of a block, in ascending order: `sum` over the diagonal, less what the row before takes.
/// @param last  x before the block.
inline void solve_forward(Lanes sum, Lanes before, Lanes diagonal, std::int64_t rows, double* x,
                          double last) {
  const Lanes inverse = 1.0 / diagonal;
  sum *= inverse;
  before *= inverse;
  const auto solve = [&](std::int64_t count) {
    for (std::int64_t lane = 0; lane < count; ++lane) {
      x[lane] = last = sum[lane] - before[lane] * last;
    }
  };
  rows == BlockOperator::lanes ? solve(BlockOperator::lanes) : solve(rows);
}

/// The same in descending order: what the row behind takes. x has a value behind the block.
inline void solve_backward(Lanes sum, Lanes behind, Lanes diagonal, std::int64_t rows, double* x) {
  const Lanes inverse = 1.0 / diagonal;
  sum *= inverse;
  behind *= inverse;
  double last = x[rows];
  const auto solve = [&](std::int64_t count) {
    for (std::int64_t lane = count; lane-- > 0;) {
      x[lane] = last = sum[lane] - behind[lane] * last;
    }
  };
  rows == BlockOperator::lanes ? solve(BlockOperator::lanes) : solve(rows);
}

}  // namespace

BlockOperator::BlockOperator(const Matrix& matrix, std::int64_t line) {
  Builder builder{*this, matrix};
  for (std::int64_t begin = 0; begin < matrix.rows(); begin += line) {
    for (std::int64_t row = begin; row < begin + line; row += lanes) {
      builder.add(row, std::min(lanes, begin + line - row));
    }
  }
}

void BlockOperator::multiply(std::span<const double> x, std::span<double> y) const {
  const Arithmetic with{*this, x.data()};
  for (std::size_t i = 0; i < blocks(); ++i) {
    const Lanes sum = with.product(i);
    std::memcpy(y.data() + blocks_[i].row, &sum,
                static_cast<std::size_t>(blocks_[i].rows) * sizeof(double));
  }
}

void BlockOperator::smooth(std::span<const double> r, std::span<double> x) const {
  const Arithmetic with{*this, x.data()};
  for (std::size_t i = 0; i < blocks(); ++i) {
    const Block* const block = &blocks_[i];
    Lanes sum = with.less_far(load(r.data() + block->row), block);
    sum -= load(near_[i].behind.lane) * load(x.data() + block->row + 1);
    solve_forward(sum, load(near_[i].before.lane), load(near_[i].diagonal.lane), block->rows,
                  x.data() + block->row, block->row > 0 ? x.data()[block->row - 1] : 0.0);
  }
  sweep_back(r, x);
}

// As x is zero, only rows computed before contribute.
void BlockOperator::smooth_zero(std::span<const double> r, std::span<double> x) const {
  const Arithmetic with{*this, x.data()};
  for (std::size_t i = 0; i < blocks(); ++i) {
    const Block* const block = &blocks_[i];
    const Lanes sum = with.less_earlier(load(r.data() + block->row), block);
    solve_forward(sum, load(near_[i].before.lane), load(near_[i].diagonal.lane), block->rows,
                  x.data() + block->row, block->row > 0 ? x.data()[block->row - 1] : 0.0);
  }
  sweep_back(r, x);
}

void BlockOperator::sweep_back(std::span<const double> r, std::span<double> x) const {
  const Arithmetic with{*this, x.data()};
  for (std::size_t i = blocks(); i-- > 0;) {
    const Block* const block = &blocks_[i];
    Lanes sum = with.less_far_back(load(r.data() + block->row), block);
    sum -= load(near_[i].before.lane) * with.before(block);
    solve_backward(sum, load(near_[i].behind.lane), load(near_[i].diagonal.lane), block->rows,
                   x.data() + block->row);
  }
}

void BlockOperator::residual_at(std::span<const std::int32_t> rows, std::span<const double> r,
                                std::span<const double> x, std::span<double> coarse) const {
  const Arithmetic with{*this, x.data()};
  std::size_t block = 0;
  Lanes residual{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i] >= blocks_[block + 1].row) {
      while (rows[i] >= blocks_[block + 1].row) ++block;
      residual = load(r.data() + blocks_[block].row) - with.product(block);
    }
    coarse[i] = residual[rows[i] - blocks_[block].row];
  }
}

void BlockOperator::set_diagonal(std::span<const double> values) {
  for (std::size_t i = 0; i < blocks(); ++i) {
    for (std::int32_t lane = 0; lane < blocks_[i].rows; ++lane) {
      near_[i].diagonal.lane[static_cast<std::size_t>(lane)] =
          values[static_cast<std::size_t>(blocks_[i].row + lane)];
    }
  }
}

std::unique_ptr<Operator> make_operator(Format format, Matrix& matrix, std::int64_t line) {
  if (format == Format::rows) return std::make_unique<CsrOperator>(matrix);
  return std::make_unique<BlockOperator>(matrix, line);
}

}  // namespace iocomp::apps::hpcg
