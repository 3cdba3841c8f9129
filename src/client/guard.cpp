// SPDX-License-Identifier: BSD-3-Clause
#include "client/guard.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace iocomp::client {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void Guard::step_ended(double wall, double cpu) {
  const double period = wall - last_wall_.value_or(wall);
  const double computing = cpu - last_cpu_;
  const bool is_first = !last_wall_;
  last_wall_ = wall;
  last_cpu_ = cpu;
  if (is_first) {
    return;
  }
  switch (phase_) {
    case Phase::warming:
      if (++seen_ == steps_to_warm_up) {
        phase_ = Phase::watching;
      }
      break;
    case Phase::watching:
      watch(period, computing);
      break;
    case Phase::comparing:
      compare(period);
      break;
    default:
      break;
  }
}

void Guard::watch(double period, double computing) {
  if (period < shortest_step || computing > (1 - suspicious_share) * core_share_ * period) {
    asynchronous_.clear();
    return;
  }
  asynchronous_.push_back(period);
  if (asynchronous_.size() == steps_to_compare) {
    phase_ = Phase::comparing;
    seen_ = 0;
  }
}

// The first period after a change is partly of the old way.
void Guard::compare(double period) {
  if (++seen_ == 1) {
    return;
  }
  synchronous_.push_back(period);
  const double before = median(asynchronous_);
  if (synchronous_.size() < steps_to_compare && period < clear_loss * before) {
    return;
  }
  const double now = median(synchronous_);
  phase_ = now < margin * before ? Phase::synchronous : Phase::asynchronous;
  char text[160];
  std::snprintf(
      text, sizeof text,
      "a step takes %.4f s asynchronously and %.4f s synchronously here, so it goes on %s", before,
      now, wants_to_wait() ? "synchronously" : "asynchronously");
  story_ = text;
}

std::optional<std::string> Guard::take_story() { return std::exchange(story_, std::nullopt); }

}  // namespace iocomp::client
