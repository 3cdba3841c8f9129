// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace iocomp::bench {

/// Work that a simulation does, in calls of some milliseconds.
class ComputeKernel {
 public:
  ComputeKernel() = default;
  ComputeKernel(const ComputeKernel&) = delete;
  ComputeKernel& operator=(const ComputeKernel&) = delete;
  virtual ~ComputeKernel() = default;
  virtual void run() = 0;
};

/// "triad-cache": u = a + q b within the second-level cache; "triad-memory": the same in 64 MiB
/// arrays; "dense": a product of 256 x 256 matrices; "sparse": the matrix of HPCG, 27 points on
/// 64^3, times a vector, in CSR.
[[nodiscard]] const std::vector<std::string>& kernel_names();

/// @throws std::invalid_argument for a name that is not one of these.
[[nodiscard]] std::unique_ptr<ComputeKernel> make_kernel(const std::string& name);

}  // namespace iocomp::bench
