// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/error.h"
#include "staging/arena.h"
#include "staging/stripe_memory.h"

namespace iocomp::staging {

/// Stripes that one process fills and writes, in an arena. Open stripes use at most half of it, so
/// that something can always be received.
class ArenaStripes : public StripeMemory {
 public:
  explicit ArenaStripes(Arena& arena) noexcept : arena_{arena} {}

  [[nodiscard]] std::size_t longest_bytes() const override { return arena_.capacity_bytes() / 2; }
  [[nodiscard]] std::optional<Held> hold(const Key& key, std::size_t bytes,
                                         std::int64_t elements) override;
  /// Its only process holds all stripes that there are.
  [[nodiscard]] std::optional<Held> hold_open(const Key& /*key*/, std::size_t /*bytes*/) override {
    return {};
  }
  [[nodiscard]] bool has_room(const Key& key, std::size_t bytes) override;
  [[nodiscard]] bool fill(const Held& held, std::int64_t elements) override;
  [[nodiscard]] bool is_writing() const override { return false; }
  void withdraw(const Held& held) override { close(stripes_.at(held.id)); }
  [[nodiscard]] State look(const Held& held) const override {
    return stripes_.at(held.id).is_open ? State::open : State::withdrawn;
  }
  [[nodiscard]] Outcome outcome(const Held& /*held*/) const override { return {}; }
  void tell(const Held& /*held*/, const Outcome& /*outcome*/) override {}
  void leave(const Held& held) noexcept override;

 private:
  struct Stripe {
    Lease lease;
    std::int64_t left = 0;  // elements that are missing until it is full
    bool is_open = true;
  };
  void close(Stripe& stripe) noexcept;

  Arena& arena_;
  std::map<std::uint64_t, Stripe> stripes_;
  std::uint64_t next_ = 1;
  std::size_t open_bytes_ = 0;
};

}  // namespace iocomp::staging
