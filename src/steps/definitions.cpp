#include "steps/definitions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "contents/catalogue.h"
#include "steps/ends.h"

namespace iocomp::steps {

Definitions::Said Definitions::say(std::int64_t sequence, std::int32_t caller,
                                   std::span<const std::byte> what) {
  const auto number = static_cast<std::size_t>(sequence);
  if (number > forgotten_ + known_.size()) {
    throw Error{ErrorCode::internal,
                "a definition of compute rank " + std::to_string(caller) + " came out of order"};
  }
  if (number == forgotten_ + known_.size()) {
    known_.push_back({caller, contents::decode_event(what).step, {what.begin(), what.end()}});
    return Said::first;
  }
  if (number < forgotten_) {
    throw Error{ErrorCode::internal, "a definition of compute rank " + std::to_string(caller) +
                                         " came after the end of its step"};
  }
  return std::ranges::equal(known_[number - forgotten_].what, what) ? Said::again : Said::different;
}

Difference Definitions::difference(std::int64_t sequence, std::int32_t caller,
                                   std::span<const std::byte> what) const {
  const auto& known = known_.at(static_cast<std::size_t>(sequence) - forgotten_);
  const auto one = contents::decode_event(what);
  return {"compute rank " + std::to_string(caller) + " called " + contents::text(one) +
              " where compute rank " + std::to_string(known.first_caller) + " called " +
              contents::text(contents::decode_event(known.what)),
          std::min(one.step, known.step)};
}

void Definitions::forget(std::int64_t step) {
  for (; !known_.empty() && known_.front().step <= step; known_.pop_front()) {
    ++forgotten_;
  }
}

}  // namespace iocomp::steps
