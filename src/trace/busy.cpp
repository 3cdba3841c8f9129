// SPDX-License-Identifier: BSD-3-Clause
#include "trace/busy.h"

#include <array>
#include <cstddef>
#include <utility>

#include "trace/counters.h"

namespace iocomp::trace {

void Busy::begin(Activity activity, double now) noexcept {
  count_until(now);
  ++underway_[static_cast<std::size_t>(activity)];
}

void Busy::end(Activity activity, double now) noexcept {
  count_until(now);
  --underway_[static_cast<std::size_t>(activity)];
}

void Busy::count_until(double now) noexcept {
  constexpr std::array counters{Counter::write_seconds, Counter::sync_seconds,
                                Counter::commit_seconds};
  const double passed = now - std::exchange(since_, now);
  for (std::size_t activity = 0; activity < underway_.size(); ++activity) {
    if (underway_[activity] > 0) {
      counters_->add(counters[activity], passed);
      return;
    }
  }
}

}  // namespace iocomp::trace
