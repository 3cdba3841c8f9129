// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/error.h"

namespace iocomp::staging {

/// Memory in which short runs are put together until they become one write. A *stripe* is a
/// contiguous part of a variable. Several processes may hold a stripe and fill it. The process that
/// makes it full writes it. A stripe that does not become full is withdrawn: then each holder
/// writes what it has put in itself. Nothing here waits for another process. Used by one thread.
class StripeMemory {
 public:
  /// A part of a variable in one step of one file.
  struct Key {
    std::uint64_t file = 0;
    std::int64_t step = 0;
    std::int64_t begin = 0;  ///< its first element
    std::int32_t variable = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  /// A stripe that this process holds.
  struct Held {
    std::uint64_t id = 0;
    std::span<std::byte> bytes;  ///< begins at the border of a page
  };
  enum class State {
    open,       ///< not full yet
    withdrawn,  ///< nobody adds to it any more, and each holder writes its own parts
    taken,      ///< another holder writes all of it
    written,    ///< the write of the other holder has ended: see `outcome`
  };

  StripeMemory() = default;
  StripeMemory(const StripeMemory&) = delete;
  StripeMemory& operator=(const StripeMemory&) = delete;
  virtual ~StripeMemory() = default;

  /// The longest stripe, in bytes.
  [[nodiscard]] virtual std::size_t longest_bytes() const = 0;
  /// Hold the open stripe of this key, or a new one; nothing if there is no memory for it, or if it
  /// is shorter: another process has defined something else, and what lies behind is not its own.
  /// @param elements  the number that makes it full.
  [[nodiscard]] virtual std::optional<Held> hold(const Key& key, std::size_t bytes,
                                                 std::int64_t elements) = 0;
  /// The same without a new one.
  [[nodiscard]] virtual std::optional<Held> hold_open(const Key& key, std::size_t bytes) = 0;
  /// True if `hold` would succeed.
  [[nodiscard]] virtual bool has_room(const Key& key, std::size_t bytes) = 0;
  /// Count so many more elements in an open stripe. No effect on any other.
  /// @return true if it is full now; then the caller writes it.
  [[nodiscard]] virtual bool fill(const Held& held, std::int64_t elements) = 0;
  /// True while this process writes whole stripes, because their memory will be free.
  [[nodiscard]] virtual bool is_writing() const = 0;
  /// Withdraw an open stripe. No effect on any other.
  virtual void withdraw(const Held& held) = 0;
  [[nodiscard]] virtual State look(const Held& held) const = 0;
  /// The outcome of the write of a stripe. @pre look(held) == State::written
  [[nodiscard]] virtual Outcome outcome(const Held& held) const = 0;
  /// The writer of a full stripe tells the others the outcome. It may have left before.
  virtual void tell(const Held& held, const Outcome& outcome) = 0;
  /// This process no longer needs the memory.
  virtual void leave(const Held& held) noexcept = 0;
};

}  // namespace iocomp::staging
