// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <span>

#include "common/huge_memory.h"
#include "common/stopwatch.h"
#include "hpcg/multigrid.h"

namespace iocomp::apps::hpcg {

/// The time of the iterations by kind of work; MPI calls included.
struct CgTimers {
  Stopwatch dot;
  Stopwatch waxpby;
  Stopwatch spmv;
  Stopwatch multigrid;
};

/// Conjugate gradients for A x = b, preconditioned by a multigrid cycle. What one iteration hands
/// to the next is x, r, p and the scalars, so that is what a restart needs.
class Cg {
 public:
  struct Scalars {
    int iteration = 0;
    double rho = 0;        ///< r . z of the iteration before
    double norm = 0;       ///< of the residual
    double norm_zero = 0;  ///< of that at the start
  };

  /// @param preconditioned  no: plain conjugate gradients.
  Cg(Multigrid& multigrid, MPI_Comm comm, bool preconditioned = true);

  /// Begin with what `x` holds. Collective, as all that follows.
  /// @param x  of vector_elements() of the finest level; must outlive the iterations.
  void start(std::span<const double> b, std::span<double> x);
  /// Go on with an x, residual() and direction() that were kept.
  void resume(const Scalars& scalars, std::span<double> x);
  /// One iteration. @param before_change  called before x, residual() or direction() change, after
  /// the preconditioner has been applied, which is most of the work.
  void iterate(const std::function<void()>& before_change = {});

  [[nodiscard]] const Scalars& scalars() const noexcept { return scalars_; }
  [[nodiscard]] double relative_residual() const noexcept {
    return scalars_.norm / scalars_.norm_zero;
  }
  [[nodiscard]] std::span<double> residual() const noexcept { return r_.values(); }
  [[nodiscard]] std::span<double> direction() const noexcept { return p_.values(); }
  [[nodiscard]] const CgTimers& timers() const noexcept { return timers_; }

 private:
  [[nodiscard]] double dot_own(std::span<const double> a, std::span<const double> b);
  void add(double alpha, std::span<const double> a, double beta, std::span<double> b);
  void multiply_direction();
  void precondition();
  void choose_direction();

  Multigrid& multigrid_;
  MPI_Comm comm_;
  bool preconditioned_;
  std::size_t rows_;
  HugeArray r_;
  HugeArray z_;
  HugeArray p_;
  HugeArray product_;  ///< A p
  std::span<double> x_{};
  Scalars scalars_{};
  CgTimers timers_{};
};

/// Sum over the ranks of a . b. Collective over `comm`.
[[nodiscard]] double global_dot(MPI_Comm comm, std::span<const double> a,
                                std::span<const double> b);

}  // namespace iocomp::apps::hpcg
