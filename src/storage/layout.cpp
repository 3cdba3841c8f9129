#include "storage/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::storage {
namespace {

std::int64_t round_up(std::int64_t bytes, std::int64_t multiple) {
  return multiple <= 1 ? bytes : (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

void Layout::define(int id, std::int64_t bytes, std::int64_t step) {
  auto& sizes = epoch_from(step).bytes;
  if (id != static_cast<int>(sizes.size())) {
    throw Error{ErrorCode::internal, "variable number " + std::to_string(id) +
                                         " is defined out of order: number " +
                                         std::to_string(sizes.size()) + " comes next"};
  }
  sizes.push_back(bytes);
}

void Layout::set_bytes(int id, std::int64_t bytes, std::int64_t step) {
  auto& sizes = epoch_from(step).bytes;
  if (id < 0 || id >= static_cast<int>(sizes.size())) {
    throw Error{ErrorCode::internal,
                "variable number " + std::to_string(id) + " has no place in the layout"};
  }
  sizes[static_cast<std::size_t>(id)] = bytes;
}

std::int64_t Layout::offset(int id, std::int64_t step) const {
  const Epoch& epoch = epoch_of(step);
  if (id < 0 || id >= static_cast<int>(epoch.bytes.size())) {
    throw Error{ErrorCode::internal, "variable number " + std::to_string(id) +
                                         " does not exist in step " + std::to_string(step)};
  }
  std::int64_t position = begin(epoch, step);
  for (int before = 0; before < id; ++before) {
    position += round_up(epoch.bytes[static_cast<std::size_t>(before)], alignment_);
  }
  return position;
}

std::int64_t Layout::end(std::int64_t step) const {
  if (epochs_.empty()) {
    return 0;
  }
  const Epoch& epoch = epoch_of(step);
  if (epoch.bytes.empty()) {
    return begin(epoch, step);
  }
  return offset(static_cast<int>(epoch.bytes.size()) - 1, step) + epoch.bytes.back();
}

Layout::Epoch& Layout::epoch_from(std::int64_t step) {
  if (epochs_.empty()) {
    epochs_.push_back({0, 0, {}});
  }
  const Epoch& last = epochs_.back();
  if (step < last.first_step) {
    throw Error{ErrorCode::internal, "the layout was changed in step " +
                                         std::to_string(last.first_step) +
                                         " and cannot be changed in step " + std::to_string(step)};
  }
  if (step > last.first_step) {
    epochs_.push_back({step, begin(last, step), last.bytes});
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
  return one_file_ ? epoch.base + (step - epoch.first_step) * step_bytes(epoch) : 0;
}

std::int64_t Layout::step_bytes(const Epoch& epoch) const {
  std::int64_t sum = 0;
  for (const auto bytes : epoch.bytes) {
    sum += round_up(bytes, alignment_);
  }
  return sum;
}

}  // namespace iocomp::storage
