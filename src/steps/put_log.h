// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "array/coverage.h"
#include "base/wire.h"

namespace iocomp::steps {

/// One put, or a piece of it. Puts are looked at if they do not cover a variable exactly.
struct PutRecord {
  std::int32_t variable = 0;
  std::int32_t rank = 0;  ///< compute rank
  array::Part part;
};

/// The puts of a step, kept until it is known whether anybody needs them. Each takes some 40 bytes.
class PutLog {
 public:
  void add(const PutRecord& put);
  void clear();
  /// The puts of some variables.
  [[nodiscard]] std::vector<PutRecord> of(std::span<const std::int32_t> variables) const;

 private:
  WireWriter boxes_;
  std::vector<PutRecord> lists_;  // puts of run lists, which are kept elsewhere anyway
};

}  // namespace iocomp::steps
