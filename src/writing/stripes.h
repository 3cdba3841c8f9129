// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "array/runs.h"
#include "base/crew.h"
#include "base/error.h"
#include "contents/variable.h"
#include "staging/stripe_memory.h"
#include "writing/piece.h"

namespace iocomp::writing {

/// Memory of a stripe, held until this object goes. Move-only.
class StripeHold {
 public:
  StripeHold() noexcept = default;
  StripeHold(staging::StripeMemory& memory, const staging::StripeMemory::Held& held) noexcept
      : memory_{&memory}, held_{held} {}
  StripeHold(StripeHold&& other) noexcept
      : memory_{std::exchange(other.memory_, nullptr)}, held_{other.held_} {}
  StripeHold& operator=(StripeHold&& other) noexcept {
    StripeHold taken{std::move(other)};  // leaves what we held on the way out, not later
    std::swap(memory_, taken.memory_);
    std::swap(held_, taken.held_);
    return *this;
  }
  StripeHold(const StripeHold&) = delete;
  StripeHold& operator=(const StripeHold&) = delete;
  ~StripeHold() {
    if (memory_ != nullptr) {
      memory_->leave(held_);
    }
  }
  [[nodiscard]] const staging::StripeMemory::Held& held() const noexcept { return held_; }
  [[nodiscard]] staging::StripeMemory& memory() const noexcept { return *memory_; }

 private:
  staging::StripeMemory* memory_ = nullptr;
  staging::StripeMemory::Held held_;
};

/// A contiguous part of a variable in memory, where pieces of several ranks are put together, so
/// that they are written as one.
struct Stripe {
  struct Part {  // of a piece that was given to this process
    std::shared_ptr<Piece> piece;
    std::int64_t first = 0;  // of its packed order
    std::int64_t count = 0;
    std::shared_ptr<const void>
        loan;  // not needed, but the sender has the bytes if this process ends
  };
  contents::Variable variable;
  std::int64_t step = 0;
  std::int64_t begin = 0;  ///< elements of the variable's row-major order
  std::int64_t end = 0;
  StripeHold hold;
  std::byte* bytes = nullptr;  ///< of element `begin`; aligned in memory and ordered as in the file
  std::vector<Part> parts;
  double touched = 0;     ///< when this process has added to it last
  bool is_whole = false;  ///< all of it is there, also what others have put in

  /// What this process has to write: all of it, or its parts, ascending and as long as can be.
  [[nodiscard]] std::vector<array::Run> runs() const;
};

/// The stripes of one file that pieces of this process were put into and that wait for more. The
/// variable, or the part of it that this process owns, is divided into stripes of equal size. A
/// stripe gets memory when its first piece comes. It leaves when it is full, or is taken for
/// another reason. Other processes may fill the same stripes, and write them.
class Stripes {
 public:
  struct Terms {
    std::uint64_t file = 0;      ///< its key
    std::int64_t bytes = 0;      ///< of a stripe; 0: no piece is put together with others
    std::int64_t run_bytes = 0;  ///< runs from this length on are written one by one
    /// A stripe is late after this time even if nobody is known to wait for it: the program may
    /// wait in a way that this process is not told of.
    double longest_seconds = 1;
    bool may_overlap = false;  ///< pieces of one step
    bool swaps_bytes = false;  ///< of every element, on the way into a stripe
    Crew* crew = nullptr;      ///< the threads that copy; null: the caller alone
  };
  Stripes(staging::StripeMemory& memory, const Terms& terms);
  Stripes(const Stripes&) = delete;
  Stripes& operator=(const Stripes&) = delete;

  /// The length of stripes, of what is asked for, and of what fits into memory of this size:
  /// several at once; 0 where that is too little.
  [[nodiscard]] static std::int64_t fitting(std::int64_t asked, std::size_t memory_bytes);
  /// Runs of this length are written well enough one by one.
  [[nodiscard]] static std::int64_t long_run_bytes(std::int64_t stripe_bytes) noexcept;

  /// Tell a piece whether it will be put together with others, in the domain `begin` to `end` of
  /// its variable: where its runs are short.
  void choose(Piece& piece, std::int64_t begin, std::int64_t end) const;
  /// True if the stripe that element `first` of a piece lies in is there, or can be.
  [[nodiscard]] bool has_room(const Piece& piece, std::int64_t first) const;
  /// Copy a chunk into its stripes, as far as these have room: the rest stays in the chunk.
  /// @pre the piece was told so.
  void take(Chunk& chunk, double now);
  /// The stripes that have become full since the last call: this process writes them.
  [[nodiscard]] std::vector<Stripe> take_full() { return std::exchange(full_, {}); }
  /// Look what others do with stripes that have parts of this process. What they have written ends.
  /// @return true if there was anything.
  bool hear_of_others();
  /// The stripes that others have withdrawn since the last call: this process writes its parts.
  [[nodiscard]] std::vector<Stripe> take_withdrawn() { return std::exchange(withdrawn_, {}); }
  /// True while the memory of stripes comes back by itself, because this process writes some.
  [[nodiscard]] bool will_have_room() const { return memory_.is_writing(); }

  // Stripes that will not become full are withdrawn, and this process writes its parts:
  [[nodiscard]] std::vector<Stripe> withdraw_step(std::int64_t step);
  /// The one that was touched before all others. Nothing where another process writes that.
  [[nodiscard]] std::vector<Stripe> withdraw_oldest();
  /// Those that nobody has added to for long; what others have lent to the rest is given back.
  /// @param is_awaited  somebody waits for this stripe: then that is soon.
  [[nodiscard]] std::vector<Stripe> withdraw_late(
      double now, const std::function<bool(const Stripe&)>& is_awaited);

  /// Steps from `from` to before `to` are over: what this process has in their stripes ends so.
  void settle(std::int64_t from, std::int64_t to, const Outcome& outcome);

  /// Elements of a step that this process has put into stripes, less those of stripes that it
  /// writes. Summed over all processes it is 0 when each stripe has found its writer.
  [[nodiscard]] std::int64_t unclaimed(std::int64_t step) const;
  /// True if pieces wait for others in a stripe.
  [[nodiscard]] bool has_open() const noexcept { return !open_.empty(); }
  /// When the oldest of these was touched. @pre has_open()
  [[nodiscard]] double oldest() const;

 private:
  using Key = staging::StripeMemory::Key;
  using Open = std::map<Key, Stripe>;
  [[nodiscard]] Key key_of(const Piece& piece, std::int64_t begin) const;
  [[nodiscard]] Stripe* open(const Piece& piece, std::int64_t index);
  void copy(const Chunk& chunk, std::int64_t count, const Stripe& stripe) const;
  void add_part(Chunk& chunk, std::int64_t count, Stripe& stripe, double now);
  void claim(Stripe& stripe, std::int64_t elements);
  Open::iterator move_out(Open::iterator at, std::vector<Stripe>& withdrawn);
  template <typename IsMeant>
  [[nodiscard]] std::vector<Stripe> withdraw_if(IsMeant&& is_meant);
  void give_back_loans(double time);

  staging::StripeMemory& memory_;
  Terms terms_;
  Open open_;
  std::vector<Stripe> full_;
  std::vector<Stripe> withdrawn_;                   // by others
  std::vector<Stripe> elsewhere_;                   // another process writes them
  std::map<std::int64_t, std::int64_t> unclaimed_;  // by step
};

/// How many of the elements of a piece from `first` on lie in the stripe of that element.
[[nodiscard]] std::int64_t elements_in_stripe(const Piece& piece, std::int64_t first);
/// The parts of a stripe have come to this end.
void end_parts(std::vector<Stripe::Part>& parts, const Outcome& outcome);

}  // namespace iocomp::writing
