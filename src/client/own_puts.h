// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "client/tickets.h"
#include "contents/catalogue.h"
#include "contents/variable.h"

namespace iocomp::client {

/// The puts of this rank into one file. It knows how many the open step has, which the program has
/// awaited, and the step of each put variable that has values in only one step.
class OwnPuts {
 public:
  [[nodiscard]] std::int64_t in_step() const noexcept { return in_step_; }
  void add() noexcept { ++in_step_; }
  void end_step() noexcept { in_step_ = 0; }
  /// The first ticket that the program has not awaited in this state, after those that it has.
  [[nodiscard]] std::uint64_t& not_awaited(State state) {
    return not_awaited_.at(static_cast<std::size_t>(state));
  }
  /// A block with elements is about to be put in a step.
  /// @throws Error{unsupported} if the variable has values in only one step, and had them before.
  void check(const contents::Catalogue& catalogue, const contents::Variable& variable,
             std::int64_t step);

 private:
  std::int64_t in_step_ = 0;
  std::array<std::uint64_t, 4> not_awaited_{};  // by state
  std::map<int, std::int64_t> once_;            // by variable: its step
};

}  // namespace iocomp::client
