// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hpcg/matrix.h"

namespace iocomp::apps::hpcg {

/// The order of the entries in memory.
enum class Format {
  rows,   ///< compressed rows, computed as the reference of HPCG does
  blocks  ///< blocks of eight rows: the same order of computing, fewer bytes, vectors
};

/// The computing with the rows of one rank. Vectors that a matrix is multiplied with have the
/// points of neighbours behind the own ones, and all have `vector_padding` elements of no meaning
/// at the end.
class Operator {
 public:
  Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  virtual ~Operator() = default;

  /// y = A x.
  virtual void multiply(std::span<const double> x, std::span<double> y) const = 0;
  /// One symmetric Gauss-Seidel sweep for A x = r: forward, then backward over the own rows.
  virtual void smooth(std::span<const double> r, std::span<double> x) const = 0;
  /// The same for an x that is zero, points of neighbours included. On entry it holds zeros.
  virtual void smooth_zero(std::span<const double> r, std::span<double> x) const = 0;
  /// coarse[i] = (r - A x)[rows[i]]. @param rows  ascending.
  virtual void residual_at(std::span<const std::int32_t> rows, std::span<const double> r,
                           std::span<const double> x, std::span<double> coarse) const = 0;
  /// Put other values on the diagonal, one for each row; for the spectral test.
  virtual void set_diagonal(std::span<const double> values) = 0;
};

/// The number of elements behind the last one of a vector that may be read.
inline constexpr std::int64_t vector_padding = 8;

/// @param matrix      must outlive what is returned.
/// @param line  rows of a line of points: a block does not go beyond it.
[[nodiscard]] std::unique_ptr<Operator> make_operator(Format format, Matrix& matrix,
                                                      std::int64_t line);

}  // namespace iocomp::apps::hpcg
