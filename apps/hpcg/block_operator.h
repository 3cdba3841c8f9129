// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "hpcg/operator.h"

namespace iocomp::apps::hpcg {

/// Blocks of up to eight rows that follow one another in a line of points. Entries of a block whose
/// columns follow one another as its rows do are a *slot*: eight values and one column. What points
/// of neighbours leave over is kept entry by entry.
///
/// Rows are computed in the order of the reference, so both converge alike: of what a block needs,
/// only the row before (or, backward, behind) is computed in the same block. Where HPCG's multigrid
/// asks for less than a whole product, less is computed: the residual where a coarse point lies,
/// and half a sweep where x is zero.
class BlockOperator : public Operator {
 public:
  /// @param line  rows of a line.
  /// @throws std::logic_error for a matrix whose rows of a block depend on others of the block than
  /// those beside them.
  BlockOperator(const Matrix& matrix, std::int64_t line);

  void multiply(std::span<const double> x, std::span<double> y) const override;
  void smooth(std::span<const double> r, std::span<double> x) const override;
  void smooth_zero(std::span<const double> r, std::span<double> x) const override;
  void residual_at(std::span<const std::int32_t> rows, std::span<const double> r,
                   std::span<const double> x, std::span<double> coarse) const override;
  void set_diagonal(std::span<const double> values) override;

  /// Rows of a block.
  static constexpr std::int64_t lanes = vector_padding;

 private:
  class Builder;
  /// The begin of a block, which is also the end of the one before.
  struct Block {
    std::int32_t row = 0;
    std::int32_t rows = 0;         ///< 1 to `lanes`
    std::int64_t earlier = 0;      ///< slots of columns before the block
    std::int64_t later = 0;        ///< slots of columns behind it, and of neighbours
    std::int64_t single = 0;       ///< entries in no slot, those of own columns first
    std::int64_t own_singles = 0;  ///< so many of them, all in columns before the block
  };
  /// One entry that is in no slot.
  struct Single {
    std::int32_t lane;
    std::int32_t column;
    double value;
  };
  /// A value for each row of a block; zero where there is no entry, or no row.
  struct alignas(lanes * sizeof(double)) Values {
    std::array<double, lanes> lane;
  };
  /// The entries of a block in its own rows and those beside it.
  struct Near {
    Values before;    ///< in the column one before the row
    Values diagonal;  ///< 1 where there is no row
    Values behind;
  };
  /// Slots of all blocks, one block after the other.
  struct Slots {
    std::vector<Values> values{};
    std::vector<std::int32_t> columns{};  ///< in the first row of the block
  };
  struct Arithmetic;

  /// The second half of a sweep.
  void sweep_back(std::span<const double> r, std::span<double> x) const;

  /// @return how many blocks there are.
  [[nodiscard]] std::size_t blocks() const noexcept { return near_.size(); }

  std::vector<Block> blocks_{};  ///< and one behind the last
  std::vector<Near> near_{};     ///< one for each block
  Slots earlier_{};
  Slots later_{};
  std::vector<Single> singles_{};
};

}  // namespace iocomp::apps::hpcg
