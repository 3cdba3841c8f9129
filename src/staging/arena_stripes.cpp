// SPDX-License-Identifier: BSD-3-Clause
#include "staging/arena_stripes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/free_ranges.h"
#include "staging/arena.h"

namespace iocomp::staging {

bool ArenaStripes::has_room(const Key& /*key*/, std::size_t bytes) {
  return 2 * (open_bytes_ + whole_pages(bytes)) <= arena_.capacity_bytes();
}

std::optional<StripeMemory::Held> ArenaStripes::hold(const Key& key, std::size_t bytes,
                                                     std::int64_t elements) {
  auto lease = has_room(key, bytes) ? arena_.try_take(bytes) : std::nullopt;
  if (!lease) {
    return std::nullopt;
  }
  open_bytes_ += whole_pages(bytes);
  const Held held{next_++, lease->bytes()};
  stripes_.emplace(held.id, Stripe{.lease = std::move(*lease), .left = elements});
  return held;
}

bool ArenaStripes::fill(const Held& held, std::int64_t elements) {
  Stripe& stripe = stripes_.at(held.id);
  stripe.left -= elements;
  if (!stripe.is_open || stripe.left > 0) {
    return false;
  }
  close(stripe);
  return true;
}

void ArenaStripes::close(Stripe& stripe) noexcept {
  if (std::exchange(stripe.is_open, false)) {
    open_bytes_ -= whole_pages(stripe.lease.bytes().size());
  }
}

void ArenaStripes::leave(const Held& held) noexcept {
  const auto found = stripes_.find(held.id);
  close(found->second);
  stripes_.erase(found);
}

}  // namespace iocomp::staging
