// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "steps/ends.h"

namespace iocomp::steps {

/// The definitions of a file, as those who were the first to make each of them said it. All members
/// must say the same in the same order.
class Definitions {
 public:
  enum class Said { first, again, different };

  /// A member makes definition number `sequence`.
  /// @param caller  its compute rank. @param what  the event, encoded (contents/catalogue.h).
  /// @throws Error{internal} for one whose predecessors were not said.
  [[nodiscard]] Said say(std::int64_t sequence, std::int32_t caller,
                         std::span<const std::byte> what);
  /// What is told where `say` found a difference.
  [[nodiscard]] Difference difference(std::int64_t sequence, std::int32_t caller,
                                      std::span<const std::byte> what) const;
  /// All members have ended this step: of what was said by then, only enough is kept to know it
  /// again.
  void shorten(std::int64_t step);

 private:
  struct Known {
    std::int32_t first_caller = 0;
    std::int64_t step = 0;
    std::size_t hash = 0;
    std::vector<std::byte> what;  // empty: shortened
  };
  std::vector<Known> known_;
  std::size_t shortened_ = 0;  // so many of them
};

}  // namespace iocomp::steps
