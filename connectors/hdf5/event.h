// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace iocomp::hdf5 {

/// One asynchronous call of the program, which an event set of HDF5 holds until it is done.
class Event {
 public:
  Event();

  /// Counts the events of this process.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  void plan_begins() noexcept { ++plans_under_way_; }
  void plan_ends(const Outcome& outcome);

  /// True when nothing reads the program's memory any more.
  [[nodiscard]] bool is_done() const noexcept { return plans_under_way_ == 0; }
  /// The first failure.
  [[nodiscard]] const Outcome& outcome() const noexcept { return outcome_; }

  // As HDF5 asks for them.
  [[nodiscard]] std::uint64_t began_at_nanoseconds() const noexcept { return began_at_; }
  [[nodiscard]] std::uint64_t took_nanoseconds() const noexcept { return ended_at_ - began_at_; }

 private:
  std::uint64_t number_;
  std::size_t plans_under_way_ = 0;
  Outcome outcome_;
  std::uint64_t began_at_;  // since 1970, as the next
  std::uint64_t ended_at_;
};

}  // namespace iocomp::hdf5
