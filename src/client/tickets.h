// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace iocomp::client {

/// The state of a put. The values are those of `iocomp_state`.
enum class State { handed_over = 1, written = 2, durable = 3 };

/// Memory of the library that a put reads from: freed when it is handed over.
using Copy = std::shared_ptr<std::byte[]>;

class EarlyCopy;

/// The caller's memory that a put is being written from, and a copy of it that is made meanwhile.
struct Lent {
  std::span<const std::byte> memory{};
  std::shared_ptr<EarlyCopy> copy{};  ///< null: none
};

/// One put on its way.
struct Ticket {
  std::uint64_t file = 0;
  std::uint64_t closes = 0;  ///< the file that it closes, if it is not of a put
  std::int64_t step = 0;
  std::string variable;  ///< for messages
  std::int64_t pieces = 0;
  std::int64_t written = 0;          ///< pieces
  std::int64_t durable = 0;          ///< pieces
  std::vector<std::uint64_t> posts;  ///< of the transport, if not known to be taken
  bool kept = false;  ///< the caller's memory is still needed for another reason (see KeptBlocks)
  Lent lent{};
  bool joined = false;  ///< put together with blocks of other ranks, which may have to come first
  bool exchanged = false;               ///< ranks that may be on other nodes have written it
  std::array<std::uint8_t, 4> tests{};  ///< unsuccessful ones, by state
  Outcome failure;
  double put_at = 0;  ///< time of the put; 0: its hand-over was told to the timeline

  /// Its program may do with its memory what it likes, so nobody copies it any more.
  void fail(const Outcome& why) {
    failure = why;
    lent.copy.reset();
  }
  [[nodiscard]] bool settled() const noexcept {
    return durable == pieces && posts.empty() && !kept && failure.ok();
  }
};

/// All tickets of a session that are not settled. A number that is missing here was durable,
/// without a failure. So memory is used only for puts that are under way or have failed.
class TicketBook {
 public:
  /// A new ticket; its number.
  std::uint64_t open(Ticket ticket);
  /// The ticket, or nothing when it is settled.
  [[nodiscard]] Ticket* find(std::uint64_t number);
  /// Forget the ticket if it is settled.
  void settle(std::uint64_t number);
  [[nodiscard]] bool knows(std::uint64_t number) const noexcept {
    return number > 0 && number < next_;
  }

  /// The number of the ticket that is opened next.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }

  /// All open tickets, in no particular order.
  void for_each(const std::function<void(std::uint64_t, Ticket&)>& visit);

 private:
  std::uint64_t next_ = 1;
  std::unordered_map<std::uint64_t, Ticket> open_;
};

/// The failures of a session on this rank, so that none stays untold.
class FailureBook {
 public:
  static constexpr std::int64_t no_step = -1;  ///< the failure is of the whole file

  /// Add a failure of a step of a file (0: of the session), unless it is known, or follows from the
  /// cause of the file's failure.
  void add(std::uint64_t file, std::int64_t step, const Outcome& outcome);
  /// Add the cause of a file's failure from a step on. It is told instead of what follows from it.
  void add_cause(std::uint64_t file, std::int64_t from_step, const Outcome& cause);
  [[nodiscard]] bool is_told(std::uint64_t file, const std::string& story) const;
  /// The program was told this failure of the file.
  void told(std::uint64_t file, const std::string& story);
  /// The same, by this call. @throws Error with the failure.
  [[noreturn]] void tell(std::uint64_t file, const Outcome& failure);
  /// The failure that was not told of the lowest step of a file, and the number of other such
  /// steps.
  /// @param file  nothing: of the first file that has one, and the number of such steps of all.
  [[nodiscard]] Outcome untold(std::optional<std::uint64_t> file = {}) const;
  /// The same; all these failures count as told from now on.
  [[nodiscard]] Outcome take_untold(std::optional<std::uint64_t> file = {});

 private:
  struct Failure {
    std::uint64_t file;
    std::int64_t step;
    Outcome outcome;
    bool told;
    bool is_cause = false;  ///< later steps have failed too, and the story says so
    [[nodiscard]] bool is_untold(const std::optional<std::uint64_t>& of) const {
      return !told && (!of || file == *of);
    }
  };
  std::vector<Failure> failures_;
};

}  // namespace iocomp::client
