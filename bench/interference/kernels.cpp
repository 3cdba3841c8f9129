// SPDX-License-Identifier: BSD-3-Clause
#include "interference/kernels.h"

#include <algorithm>
#include <stdexcept>

#include "common/huge_memory.h"

namespace iocomp::bench {
namespace {

// The compiler must neither merge nor drop calls that write the same again.
void keep(const void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

void triad(double* __restrict u, const double* __restrict a, const double* __restrict b, double q,
           std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) u[i] = a[i] + q * b[i];
}

class TriadKernel : public ComputeKernel {
 public:
  TriadKernel(std::size_t elements, int repeats)
      : repeats_{repeats}, u_{elements}, a_{elements}, b_{elements} {
    std::ranges::fill(a_.values(), 1.0);
    std::ranges::fill(b_.values(), 2.0);
  }
  void run() override {
    for (int i = 0; i < repeats_; ++i) {
      triad(u_.data(), a_.data(), b_.data(), 3.0, u_.size());
      keep(u_.data());
    }
  }

 private:
  int repeats_;
  apps::HugeArray u_;
  apps::HugeArray a_;
  apps::HugeArray b_;
};

class DenseKernel : public ComputeKernel {
 public:
  DenseKernel() : a_{n * n}, b_{n * n}, c_{n * n} {
    std::ranges::fill(a_.values(), 1.0);
    std::ranges::fill(b_.values(), 2.0);
  }
  void run() override {
    std::ranges::fill(c_.values(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        triad_row(c_.data() + i * n, b_.data() + k * n, a_.data()[i * n + k]);
      }
    }
    keep(c_.data());
  }

 private:
  static constexpr std::size_t n = 256;
  static void triad_row(double* __restrict to, const double* __restrict from, double factor) {
    for (std::size_t j = 0; j < n; ++j) to[j] += factor * from[j];
  }

  apps::HugeArray a_;
  apps::HugeArray b_;
  apps::HugeArray c_;
};

class SparseKernel : public ComputeKernel {
 public:
  SparseKernel() : values_{27 * rows}, x_{rows}, y_{rows} {
    begins_.reserve(rows + 1);
    columns_.reserve(27 * rows);
    for (int z = 0; z < n; ++z) {
      for (int y = 0; y < n; ++y) {
        for (int x = 0; x < n; ++x) add_row(x, y, z);
      }
    }
    begins_.push_back(columns_.size());
    std::ranges::fill(x_.values(), 1.0);
  }
  void run() override {
    const double* const values = values_.data();
    const double* const x = x_.data();
    for (std::size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (std::size_t i = begins_[row]; i < begins_[row + 1]; ++i) {
        sum += values[i] * x[columns_[i]];
      }
      y_.data()[row] = sum;
    }
    keep(y_.data());
  }

 private:
  static constexpr int n = 64;
  static constexpr std::size_t rows = std::size_t{n} * n * n;

  void add_row(int x, int y, int z) {
    begins_.push_back(columns_.size());
    for (int k = std::max(z - 1, 0); k <= std::min(z + 1, n - 1); ++k) {
      for (int j = std::max(y - 1, 0); j <= std::min(y + 1, n - 1); ++j) {
        for (int i = std::max(x - 1, 0); i <= std::min(x + 1, n - 1); ++i) {
          const bool diagonal = i == x && j == y && k == z;
          values_.data()[columns_.size()] = diagonal ? 26.0 : -1.0;
          columns_.push_back((k * n + j) * n + i);
        }
      }
    }
  }

  std::vector<std::size_t> begins_;
  std::vector<std::int32_t> columns_;
  apps::HugeArray values_;
  apps::HugeArray x_;
  apps::HugeArray y_;
};

}  // namespace

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> names{"triad-cache", "triad-memory", "dense", "sparse"};
  return names;
}

std::unique_ptr<ComputeKernel> make_kernel(const std::string& name) {
  if (name == "triad-cache") return std::make_unique<TriadKernel>(std::size_t{16} << 10, 300);
  if (name == "triad-memory") return std::make_unique<TriadKernel>(std::size_t{8} << 20, 1);
  if (name == "dense") return std::make_unique<DenseKernel>();
  if (name == "sparse") return std::make_unique<SparseKernel>();
  throw std::invalid_argument("no kernel " + name);
}

}  // namespace iocomp::bench
