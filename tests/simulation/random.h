// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulation {

/// The dice. The same seed gives the same answers on every machine (SplitMix64: Steele,
/// Lea, Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_{seed} {}

  [[nodiscard]] std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// 0 to `bound` - 1.
  [[nodiscard]] std::int64_t below(std::int64_t bound) noexcept {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) noexcept {
    return least + below(most - least + 1);
  }
  /// True in `part` of `whole` cases.
  [[nodiscard]] bool chance(std::int64_t part, std::int64_t whole) noexcept {
    return below(whole) < part;
  }
  template <typename T>
  [[nodiscard]] const T& among(const std::vector<T>& all) noexcept {
    return all[static_cast<std::size_t>(below(static_cast<std::int64_t>(all.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace simulation
