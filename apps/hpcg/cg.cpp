// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/cg.h"

#include <algorithm>
#include <cmath>

#include "hpcg/vectors.h"

namespace iocomp::apps::hpcg {

Cg::Cg(Multigrid& multigrid, MPI_Comm comm, bool preconditioned)
    : multigrid_{multigrid},
      comm_{comm},
      preconditioned_{preconditioned},
      rows_{static_cast<std::size_t>(multigrid.grid().rows())},
      r_{multigrid.finest().vector_elements()},
      z_{multigrid.finest().vector_elements()},
      p_{multigrid.finest().vector_elements()},
      product_{multigrid.finest().vector_elements()} {}

void Cg::start(std::span<const double> b, std::span<double> x) {
  x_ = x;
  std::copy_n(x.begin(), rows_, p_.data());
  std::copy_n(b.begin(), rows_, r_.data());
  multiply_direction();
  add(-1.0, product_.values(), 1.0, r_.values());
  scalars_ = {};
  scalars_.norm = scalars_.norm_zero = std::sqrt(dot_own(r_.values(), r_.values()));
}

void Cg::resume(const Scalars& scalars, std::span<double> x) {
  x_ = x;
  scalars_ = scalars;
}

void Cg::iterate(const std::function<void()>& before_change) {
  precondition();
  if (before_change) before_change();
  choose_direction();
  multiply_direction();
  const double alpha = scalars_.rho / dot_own(p_.values(), product_.values());
  add(alpha, p_.values(), 1.0, x_);
  add(-alpha, product_.values(), 1.0, r_.values());
  scalars_.norm = std::sqrt(dot_own(r_.values(), r_.values()));
  ++scalars_.iteration;
}

void Cg::precondition() {
  if (preconditioned_) {
    timers_.multigrid.time([&] { multigrid_.apply(r_.values(), z_.values()); });
  } else {
    std::copy_n(r_.data(), rows_, z_.data());
  }
}

void Cg::choose_direction() {
  const double before = scalars_.rho;
  scalars_.rho = dot_own(r_.values(), z_.values());
  if (scalars_.iteration == 0) {
    timers_.waxpby.time([&] { std::copy_n(z_.data(), rows_, p_.data()); });
    return;
  }
  add(1.0, z_.values(), scalars_.rho / before, p_.values());
}

double Cg::dot_own(std::span<const double> a, std::span<const double> b) {
  return timers_.dot.time([&] { return global_dot(comm_, a.first(rows_), b.first(rows_)); });
}

void Cg::add(double alpha, std::span<const double> a, double beta, std::span<double> b) {
  timers_.waxpby.time([&] { add_scaled(alpha, a.first(rows_), beta, b.first(rows_)); });
}

void Cg::multiply_direction() {
  timers_.spmv.time([&] { multigrid_.finest().multiply(p_.values(), product_.values()); });
}

double global_dot(MPI_Comm comm, std::span<const double> a, std::span<const double> b) {
  double sum = dot(a, b);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

}  // namespace iocomp::apps::hpcg
