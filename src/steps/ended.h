// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "contents/description.h"
#include "steps/covers.h"
#include "steps/predecessors.h"

namespace iocomp::steps {

/// A block that was put, where its values are summed.
struct PutSum {
  std::int32_t variable = 0;
  contents::BlockSum block;

  friend bool operator==(const PutSum&, const PutSum&) = default;
};

/// What one member says of a step that it ends, or several members together.
struct Ended {
  std::int64_t step = 0;
  std::int64_t events = 0;                                      ///< definitions made before the end
  std::int64_t members = 0;                                     ///< summed here
  std::vector<std::pair<std::int32_t, std::int64_t>> pieces{};  ///< writer, pieces sent to it
  Covers variables{};                                           ///< that were put
  std::vector<PutSum> sums{};                                   ///< of blocks, in any order
  Predecessors predecessors{};                                  ///< steps of other files
  /// Elements that wait in stripes, less those of stripes that have found their writer: 0 when no
  /// stripe is left that nobody writes.
  std::int64_t unclaimed = 0;

  [[nodiscard]] bool has_puts() const noexcept { return !pieces.empty() || !variables.empty(); }
};
/// Add what others say of the same step.
void add(Ended& sum, const Ended& more);

}  // namespace iocomp::steps
