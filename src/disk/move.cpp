// SPDX-License-Identifier: BSD-3-Clause
#include "disk/move.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "base/clock.h"
#include "disk/engine.h"
#include "disk/output_file.h"

namespace iocomp::disk {

bool overlap(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  constexpr std::less<> before;
  return !one.empty() && !other.empty() && before(one.data(), other.data() + other.size()) &&
         before(other.data(), one.data() + one.size());
}

bool Move::covers(std::span<const std::byte> bytes) const noexcept {
  constexpr std::less_equal<> up_to;
  return !bytes.empty() && up_to(from_.data(), bytes.data()) &&
         up_to(bytes.data() + bytes.size(), from_.data() + from_.size());
}

bool Move::apply(std::span<const std::byte>& bytes) const {
  if (!covers(bytes)) {
    return false;
  }
  const double begin = now_seconds();
  std::byte* const place = place_of(bytes);
  const std::size_t first = static_cast<std::size_t>(place - to_);
  const std::size_t there = std::min(copied_ - std::min(copied_, first), bytes.size());
  std::ranges::copy(bytes.subspan(there), place + there);
  bytes = {place, bytes.size()};
  tally_.bytes += bytes.size();
  tally_.seconds += now_seconds() - begin;
  return true;
}

bool Move::apply(Remaining& remaining, std::span<Write> later) const {
  bool is_moved = apply(remaining.bytes);
  for (Write& write : later) {
    is_moved = apply(write.bytes) || is_moved;
  }
  return is_moved;
}

bool reads(const Remaining& remaining, std::span<const Write> later,
           std::span<const std::byte> memory) {
  return overlap(remaining.bytes, memory) || std::ranges::any_of(later, [&](const Write& write) {
           return overlap(write.bytes, memory);
         });
}

}  // namespace iocomp::disk
