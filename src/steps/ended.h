// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "contents/description.h"
#include "steps/covers.h"
#include "steps/predecessors.h"

namespace iocomp::steps {

/// The checksum of a block that was put.
struct PutSum {
  std::int32_t variable = 0;
  contents::BlockSum block;

  friend bool operator==(const PutSum&, const PutSum&) = default;
};

/// The report of one member that ends a step, or the sum of several reports.
struct Ended {
  std::int64_t step = 0;
  std::int64_t events = 0;                                      ///< definitions made before the end
  std::int64_t members = 0;                                     ///< members in this sum
  std::vector<std::pair<std::int32_t, std::int64_t>> pieces{};  ///< writer, pieces sent to it
  Covers variables{};                                           ///< covers of those that were put
  /// Checksums of blocks, in any order.
  std::vector<PutSum> sums{};
  /// Steps of other files that come first.
  Predecessors predecessors{};
  /// Elements that wait in stripes, minus those of stripes that have found their writer. It is 0
  /// when each stripe has a writer.
  std::int64_t unclaimed = 0;
  std::int64_t unfinished = 0;  ///< members whose program does not finish the step

  [[nodiscard]] bool has_puts() const noexcept { return !pieces.empty() || !variables.empty(); }
};
/// Add the reports of others on the same step.
void add(Ended& sum, const Ended& more);

}  // namespace iocomp::steps
