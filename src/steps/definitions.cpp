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
  if (number > said_.size()) {
    throw Error{ErrorCode::internal,
                "a definition of compute rank " + std::to_string(caller) + " came out of order"};
  }
  if (number == said_.size()) {
    said_.emplace_back(caller, std::vector(what.begin(), what.end()));
    return Said::first;
  }
  return std::ranges::equal(said_[number].second, what) ? Said::again : Said::different;
}

Difference Definitions::difference(std::int64_t sequence, std::int32_t caller,
                                   std::span<const std::byte> what) const {
  const auto& [first, known] = said_.at(static_cast<std::size_t>(sequence));
  const auto one = contents::decode_event(what);
  const auto other = contents::decode_event(known);
  return {"compute rank " + std::to_string(caller) + " called " + contents::text(one) +
              " where compute rank " + std::to_string(first) + " called " + contents::text(other),
          std::min(one.step, other.step)};
}

}  // namespace iocomp::steps
