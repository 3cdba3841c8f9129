// SPDX-License-Identifier: BSD-3-Clause
#include "steps/definitions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "contents/catalogue.h"
#include "steps/ends.h"

namespace iocomp::steps {

namespace {

std::size_t hash_of(std::span<const std::byte> what) {
  return std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(what.data()), what.size()});  // bytes as characters
}

}  // namespace

Definitions::Said Definitions::say(std::int64_t sequence, std::int32_t caller,
                                   std::span<const std::byte> what) {
  const auto number = static_cast<std::size_t>(sequence);
  if (number > known_.size()) {
    throw Error{ErrorCode::internal,
                "a definition of compute rank " + std::to_string(caller) + " came out of order"};
  }
  if (number == known_.size()) {
    known_.push_back(
        {caller, contents::decode_event(what).step, hash_of(what), {what.begin(), what.end()}});
    return Said::first;
  }
  return known_[number].hash == hash_of(what) ? Said::again : Said::different;
}

Difference Definitions::difference(std::int64_t sequence, std::int32_t caller,
                                   std::span<const std::byte> what) const {
  const auto& known = known_.at(static_cast<std::size_t>(sequence));
  const auto one = contents::decode_event(what);
  const std::string other = known.what.empty()
                                ? "had called something else in step " + std::to_string(known.step)
                                : "called " + contents::text(contents::decode_event(known.what));
  return {"compute rank " + std::to_string(caller) + " called " + contents::text(one) +
              " where compute rank " + std::to_string(known.first_caller) + ' ' + other,
          std::min(one.step, known.step)};
}

void Definitions::shorten(std::int64_t step) {
  for (; shortened_ < known_.size() && known_[shortened_].step <= step; ++shortened_) {
    known_[shortened_].what = {};
  }
}

}  // namespace iocomp::steps
