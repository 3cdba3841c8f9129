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

/// The definitions of a file, each as the first member that made it has said it. All members must
/// make the same definitions in the same order.
class Definitions {
 public:
  enum class Said { first, again, different };

  /// A member makes the definition with number `sequence`.
  /// @param caller  its compute rank. @param what  the event, encoded (contents/catalogue.h).
  /// @throws Error{internal} if an earlier definition is missing.
  [[nodiscard]] Said say(std::int64_t sequence, std::int32_t caller,
                         std::span<const std::byte> what);
  /// The message for a difference that `say` has found.
  [[nodiscard]] Difference difference(std::int64_t sequence, std::int32_t caller,
                                      std::span<const std::byte> what) const;
  /// All members have ended this step: of the definitions made by then, only the hashes are kept.
  void shorten(std::int64_t step);

 private:
  struct Known {
    std::int32_t first_caller = 0;
    std::int64_t step = 0;
    std::size_t hash = 0;
    std::vector<std::byte> what;  // empty if shortened
  };
  std::vector<Known> known_;
  std::size_t shortened_ = 0;  // number of definitions that are shortened
};

}  // namespace iocomp::steps
