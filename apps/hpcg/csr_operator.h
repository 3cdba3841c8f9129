// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "hpcg/operator.h"

namespace iocomp::apps::hpcg {

/// Compressed rows, computed one after the other: HPCG's reference without any tuning.
class CsrOperator : public Operator {
 public:
  explicit CsrOperator(Matrix& matrix);

  void multiply(std::span<const double> x, std::span<double> y) const override;
  void smooth(std::span<const double> r, std::span<double> x) const override;
  void smooth_zero(std::span<const double> r, std::span<double> x) const override { smooth(r, x); }
  void residual_at(std::span<const std::int32_t> rows, std::span<const double> r,
                   std::span<const double> x, std::span<double> coarse) const override;
  void set_diagonal(std::span<const double> values) override;

 private:
  Matrix& matrix_;
  mutable std::vector<double> product_{};  ///< made where a residual is asked for
};

}  // namespace iocomp::apps::hpcg
