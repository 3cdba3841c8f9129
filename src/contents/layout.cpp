// SPDX-License-Identifier: BSD-3-Clause
#include "contents/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"

namespace iocomp::contents {

void Layout::begin_at(std::int64_t base) { base_ = checked_round_up(base, alignment_); }

void Layout::define(int id, std::int64_t bytes, std::int64_t step) {
  Epoch& epoch = epoch_from(step);
  auto& sizes = epoch.bytes;
  if (id != static_cast<int>(sizes.size())) {
    throw Error{ErrorCode::internal, "variable number " + std::to_string(id) +
                                         " is defined out of order: number " +
                                         std::to_string(sizes.size()) + " comes next"};
  }
  epoch.starts.push_back(checked_sum(epoch.starts.back(), checked_round_up(bytes, alignment_)));
  sizes.push_back(bytes);
}

void Layout::set_bytes(int id, std::int64_t bytes, std::int64_t step) {
  Epoch& epoch = epoch_from(step);
  auto& sizes = epoch.bytes;
  if (id < 0 || id >= static_cast<int>(sizes.size())) {
    throw Error{ErrorCode::internal,
                "variable number " + std::to_string(id) + " has no place in the layout"};
  }
  const auto changed = static_cast<std::size_t>(id);
  auto starts = epoch.starts;
  for (std::size_t i = changed; i < sizes.size(); ++i) {
    starts[i + 1] =
        checked_sum(starts[i], checked_round_up(i == changed ? bytes : sizes[i], alignment_));
  }
  sizes[changed] = bytes;
  epoch.starts = std::move(starts);
}

std::int64_t Layout::offset(int id, std::int64_t step) const {
  const Epoch& epoch = epoch_of(step);
  if (id < 0 || id >= static_cast<int>(epoch.bytes.size())) {
    throw Error{ErrorCode::internal, "variable number " + std::to_string(id) +
                                         " does not exist in step " + std::to_string(step)};
  }
  return checked_sum(begin(epoch, step), epoch.starts[static_cast<std::size_t>(id)]);
}

std::int64_t Layout::end(std::int64_t step) const {
  if (epochs_.empty()) {
    return base_;
  }
  const Epoch& epoch = epoch_of(step);
  if (epoch.bytes.empty()) {
    return begin(epoch, step);
  }
  return checked_sum(offset(static_cast<int>(epoch.bytes.size()) - 1, step), epoch.bytes.back());
}

Layout::Epoch& Layout::epoch_from(std::int64_t step) {
  if (epochs_.empty()) {
    epochs_.push_back({0, base_, {}, {0}});
  }
  const Epoch& last = epochs_.back();
  if (step < last.first_step) {
    throw Error{ErrorCode::internal, "the layout was changed in step " +
                                         std::to_string(last.first_step) +
                                         " and cannot be changed in step " + std::to_string(step)};
  }
  if (step > last.first_step) {
    epochs_.push_back({step, begin(last, step), last.bytes, last.starts});
  }
  return epochs_.back();
}

const Layout::Epoch& Layout::epoch_of(std::int64_t step) const {
  const auto after = std::upper_bound(
      epochs_.begin(), epochs_.end(), step,
      [](std::int64_t wanted, const Epoch& epoch) { return wanted < epoch.first_step; });
  if (after == epochs_.begin()) {
    throw Error{ErrorCode::internal, "the layout knows no step " + std::to_string(step)};
  }
  return *std::prev(after);
}

std::int64_t Layout::begin(const Epoch& epoch, std::int64_t step) const {
  return one_file_ ? checked_sum(epoch.base,
                                 checked_product(step - epoch.first_step, epoch.starts.back()))
                   : 0;
}

}  // namespace iocomp::contents
