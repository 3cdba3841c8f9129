// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/event.h"

#include <chrono>
#include <cstdint>

#include "base/error.h"

namespace iocomp::hdf5 {
namespace {

std::uint64_t nanoseconds_since_1970() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

std::uint64_t next_number() {
  static std::uint64_t last = 0;
  return ++last;
}

}  // namespace

Event::Event()
    : number_{next_number()}, began_at_{nanoseconds_since_1970()}, ended_at_{began_at_} {}

void Event::plan_ends(const Outcome& outcome) {
  --plans_under_way_;
  ended_at_ = nanoseconds_since_1970();
  if (outcome_.ok()) {
    outcome_ = outcome;
  }
}

}  // namespace iocomp::hdf5
