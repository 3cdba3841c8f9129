#include "contents/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::contents {
namespace {

std::int64_t round_up(std::int64_t bytes, std::int64_t multiple) {
  return multiple <= 1 ? bytes : (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

void Layout::define(int id, std::int64_t bytes, std::int64_t step) {
  Epoch& epoch = epoch_from(step);
  auto& sizes = epoch.bytes;
  if (id != static_cast<int>(sizes.size())) {
    throw Error{ErrorCode::internal, "variable number " + std::to_string(id) +
                                         " is defined out of order: number " +
                                         std::to_string(sizes.size()) + " comes next"};
  }
  sizes.push_back(bytes);
  find_starts(epoch, sizes.size() - 1);
}

void Layout::set_bytes(int id, std::int64_t bytes, std::int64_t step) {
  Epoch& epoch = epoch_from(step);
  auto& sizes = epoch.bytes;
  if (id < 0 || id >= static_cast<int>(sizes.size())) {
    throw Error{ErrorCode::internal,
                "variable number " + std::to_string(id) + " has no place in the layout"};
  }
  sizes[static_cast<std::size_t>(id)] = bytes;
  find_starts(epoch, static_cast<std::size_t>(id));
}

void Layout::find_starts(Epoch& epoch, std::size_t first) const {
  epoch.starts.resize(epoch.bytes.size() + 1);
  for (std::size_t id = first; id < epoch.bytes.size(); ++id) {
    epoch.starts[id + 1] = epoch.starts[id] + round_up(epoch.bytes[id], alignment_);
  }
}

std::int64_t Layout::offset(int id, std::int64_t step) const {
  const Epoch& epoch = epoch_of(step);
  if (id < 0 || id >= static_cast<int>(epoch.bytes.size())) {
    throw Error{ErrorCode::internal, "variable number " + std::to_string(id) +
                                         " does not exist in step " + std::to_string(step)};
  }
  return begin(epoch, step) + epoch.starts[static_cast<std::size_t>(id)];
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
    epochs_.push_back({0, 0, {}, {0}});
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
  return one_file_ ? epoch.base + (step - epoch.first_step) * epoch.starts.back() : 0;
}

}  // namespace iocomp::contents
