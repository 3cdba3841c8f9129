// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "array/runs.h"
#include "base/crew.h"
#include "contents/variable.h"
#include "staging/arena.h"
#include "writing/piece.h"

namespace iocomp::writing {

/// A contiguous part of a variable in staging memory, where pieces of several ranks are put
/// together, so that they are written as one.
struct Stripe {
  struct Part {  // of a piece
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
  staging::Lease lease;
  std::byte* bytes = nullptr;  ///< of element `begin`; aligned in memory and ordered as in the file
  std::vector<Part> parts;
  std::int64_t filled = 0;   ///< elements
  double touched = 0;        ///< when
  bool may_overlap = false;  ///< the pieces: then a count does not tell that all of it is there

  [[nodiscard]] bool is_full() const noexcept { return !may_overlap && filled == end - begin; }
  /// What was filled, ascending and as long as can be.
  [[nodiscard]] std::vector<array::Run> runs() const;
};

/// The stripes of one file that wait for pieces. A domain is divided into stripes of equal size,
/// each gets memory when its first piece comes, and leaves when it is full, or is taken for another
/// reason. They use at most half of the arena, so that something can always be fetched.
class Stripes {
 public:
  /// @param bytes  of a stripe; 0: no piece is put together with others.
  /// @param may_overlap  pieces of one step.
  /// @param swaps_bytes  of every element, on the way into a stripe.
  /// @param crew  the threads that copy; null: the caller alone.
  Stripes(staging::Arena& arena, std::int64_t bytes, bool may_overlap = false,
          bool swaps_bytes = false, Crew* crew = nullptr);

  /// What fits into this arena, of what is asked for: several at once; 0 where that is too little.
  [[nodiscard]] static std::int64_t fitting(std::int64_t asked, const staging::Arena& arena);

  /// Tell a piece whether it will be put together with others, in the domain `begin` to `end` of
  /// its variable: where its runs are short.
  void choose(Piece& piece, std::int64_t begin, std::int64_t end) const;

  /// Whether the stripe that element `first` of a piece lies in is there, or can be.
  [[nodiscard]] bool has_room(const Piece& piece, std::int64_t first) const;

  /// Copy a chunk into its stripes, as far as these have room: the rest stays in the chunk.
  /// @pre the piece was told so.
  void take(Chunk& chunk, double now);

  /// The stripes that have become full since the last call.
  [[nodiscard]] std::vector<Stripe> take_full();
  [[nodiscard]] std::vector<Stripe> take_step(std::int64_t step);
  [[nodiscard]] std::vector<Stripe> take_from(std::int64_t step);
  /// The one that was touched before all others. @pre !is_empty()
  [[nodiscard]] Stripe take_oldest();
  /// Those that nobody has added to for long; what others have lent to the rest is given back.
  /// @param is_awaited  somebody waits for this stripe: then that is soon.
  [[nodiscard]] std::vector<Stripe> take_late(double now,
                                              const std::function<bool(const Stripe&)>& is_awaited);

  [[nodiscard]] bool is_empty() const noexcept { return open_.empty(); }
  /// When the oldest was touched. @pre !is_empty()
  [[nodiscard]] double oldest() const;

 private:
  void copy(const Chunk& chunk, std::int64_t count, const Stripe& stripe) const;
  using Key = std::tuple<std::int64_t, int, std::int64_t>;  // step, variable, first element
  [[nodiscard]] Stripe* open(const Piece& piece, std::int64_t index);
  [[nodiscard]] bool fits(std::int64_t bytes) const noexcept;
  void give_back_loans(double time);
  template <typename IsWanted>
  [[nodiscard]] std::vector<Stripe> take_if(IsWanted&& is_wanted) {
    std::vector<Stripe> taken;
    for (auto at = open_.begin(); at != open_.end();) {
      if (is_wanted(at->second)) {
        taken.push_back(std::move(at->second));
        at = open_.erase(at);
      } else {
        ++at;
      }
    }
    return taken;
  }

  staging::Arena& arena_;
  std::int64_t bytes_;
  bool may_overlap_;
  bool swaps_bytes_;
  Crew* crew_;
  std::map<Key, Stripe> open_;
  std::vector<Stripe> full_;
};

/// How many of the elements of a piece from `first` on lie in the stripe of that element.
[[nodiscard]] std::int64_t elements_in_stripe(const Piece& piece, std::int64_t first);

}  // namespace iocomp::writing
