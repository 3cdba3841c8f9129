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

/// Holds the memory of a stripe until this object is destroyed. Move-only.
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

/// A contiguous part of a variable in memory. Pieces of several ranks are put together there, so
/// that they are written as one.
struct Stripe {
  struct Part {  // of a piece that was given to this process
    std::shared_ptr<Piece> piece;
    std::int64_t first = 0;  // in its packed order
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
  double touched = 0;     ///< time when this process last added to it
  bool is_whole = false;  ///< all of it is there, also the parts of others

  /// The runs that this process must write: all of it, or its parts without blanks, ascending and
  /// as long as possible.
  [[nodiscard]] std::vector<array::Run> runs() const;
};

/// The stripes of one file that hold pieces of this process and wait for more. The variable, or the
/// part of it that this process owns, is divided into stripes of equal size. A stripe gets memory
/// when its first piece comes. It leaves when it is full, or is taken for another reason. Other
/// processes may fill the same stripes, and write them.
class Stripes {
 public:
  struct Terms {
    std::uint64_t file = 0;      ///< its key
    std::int64_t bytes = 0;      ///< of a stripe; 0: no piece is put together with others
    std::int64_t run_bytes = 0;  ///< runs from this length on are written one by one
    /// A stripe is late after this time even if nobody is known to wait for it, because the program
    /// may wait in a way that this process is not told of.
    double longest_seconds = 1;
    bool may_overlap = false;  ///< pieces of one step may
    bool swaps_bytes = false;  ///< swaps each number on the way into a stripe
    Crew* crew = nullptr;      ///< the threads that copy; null: only the caller does
  };
  Stripes(staging::StripeMemory& memory, const Terms& terms);
  Stripes(const Stripes&) = delete;
  Stripes& operator=(const Stripes&) = delete;

  /// The length of stripes, if this length is asked for and several must fit at once into memory of
  /// this size; 0 if that is too little.
  [[nodiscard]] static std::int64_t fitting(std::int64_t asked, std::size_t memory_bytes);
  /// Runs of this length are fast enough when they are written one by one.
  [[nodiscard]] static std::int64_t long_run_bytes(std::int64_t stripe_bytes) noexcept;

  /// Decide whether a piece is put together with others, in the domain `begin` to `end` of its
  /// variable. It is if its runs are short.
  void choose(Piece& piece, std::int64_t begin, std::int64_t end) const;
  /// The same for a piece of fill values. It is put together with what is there.
  void choose_fill(Piece& piece, std::int64_t begin, std::int64_t end) const;
  /// True if the stripe of element `first` of a piece exists, or can be made.
  [[nodiscard]] bool has_room(const Piece& piece, std::int64_t first) const;
  /// Copy a chunk into its stripes, as far as these have room. The rest stays in the chunk.
  /// @pre `choose` has decided that the piece is put together with others.
  void take(Chunk& chunk, double now);
  /// The stripes that have become full since the last call: this process writes them.
  [[nodiscard]] std::vector<Stripe> take_full() { return std::exchange(full_, {}); }
  /// Look at what others do with stripes that have parts of this process. Parts that others have
  /// written end. @return true if there was anything.
  bool hear_of_others();
  /// The stripes that others have withdrawn since the last call. This process writes its own parts.
  [[nodiscard]] std::vector<Stripe> take_withdrawn() { return std::exchange(withdrawn_, {}); }
  /// True while the memory of stripes comes back by itself, because this process writes some.
  [[nodiscard]] bool will_have_room() const { return memory_.is_writing(); }

  // These calls withdraw stripes that will not become full. This process writes its parts of them:
  [[nodiscard]] std::vector<Stripe> withdraw_step(std::int64_t step);
  /// The stripe that was not touched for longest. Nothing if another process writes that one.
  [[nodiscard]] std::vector<Stripe> withdraw_oldest();
  /// The stripes that nobody has added to for long. Memory that others have lent to the rest is
  /// given back.
  /// @param is_awaited  true if somebody waits for this stripe: then the time is short.
  [[nodiscard]] std::vector<Stripe> withdraw_late(
      double now, const std::function<bool(const Stripe&)>& is_awaited);

  /// Steps from `from` to before `to` are over. Parts of this process in their stripes end with
  /// this.
  void settle(std::int64_t from, std::int64_t to, const Outcome& outcome);

  /// Elements of a step that this process has put into stripes, minus those of stripes that it
  /// writes. Summed over all processes it is 0 when each stripe has found its writer.
  [[nodiscard]] std::int64_t unclaimed(std::int64_t step) const;
  /// True if pieces wait for others in a stripe.
  [[nodiscard]] bool has_open() const noexcept { return !open_.empty(); }
  /// The time when the oldest of these was touched. @pre has_open()
  [[nodiscard]] double oldest() const;

 private:
  using Key = staging::StripeMemory::Key;
  using Open = std::map<Key, Stripe>;
  void divide(Piece& piece, std::int64_t begin, std::int64_t end) const;
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
  std::vector<Stripe> withdrawn_;                   // withdrawn by others
  std::vector<Stripe> elsewhere_;                   // another process writes them
  std::map<std::int64_t, std::int64_t> unclaimed_;  // by step
};

/// The number of elements of a piece, from `first` on, that lie in the stripe of that element.
[[nodiscard]] std::int64_t elements_in_stripe(const Piece& piece, std::int64_t first);
/// End the parts of a stripe with this outcome.
void end_parts(std::vector<Stripe::Part>& parts, const Outcome& outcome);

}  // namespace iocomp::writing
