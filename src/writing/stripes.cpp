// SPDX-License-Identifier: BSD-3-Clause
#include "writing/stripes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/runs.h"
#include "array/scatter.h"
#include "base/bug.h"
#include "base/crew.h"
#include "base/error.h"
#include "staging/arena.h"
#include "staging/stripe_memory.h"
#include "writing/piece.h"

namespace iocomp::writing {
namespace {

using State = staging::StripeMemory::State;

constexpr auto page = static_cast<std::int64_t>(staging::Arena::page_bytes);
constexpr std::int64_t smallest_bytes = std::int64_t{64} << 10;
constexpr std::int64_t stripes_at_once = 8;
constexpr std::int64_t runs_per_stripe = 4;
// A stripe that somebody waits for is written when nothing was added to it for so long. In a step
// of equal ranks, the others come within that time.
constexpr double grace_seconds = 0.05;

// The stripe of an element, as a range of elements of its variable.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

Span span_of(const Piece& piece, std::int64_t index) {
  const std::int64_t before = (index - piece.domain_begin) / piece.stripe_elements;
  const std::int64_t begin = piece.domain_begin + before * piece.stripe_elements;
  return {begin, std::min(begin + piece.stripe_elements, piece.domain_end)};
}

// Removes and returns those that are meant, in their order.
template <typename IsMeant>
std::vector<Stripe> taken_out(std::vector<Stripe>& stripes, IsMeant&& is_meant) {
  const auto meant = std::ranges::stable_partition(stripes, std::not_fn(is_meant));
  std::vector<Stripe> taken{std::make_move_iterator(meant.begin()),
                            std::make_move_iterator(meant.end())};
  stripes.erase(meant.begin(), meant.end());
  return taken;
}

void take_from_others(const Stripe& stripe) {
  for (const auto& part : stripe.parts) {
    part.piece->elements_with_others -= part.count;
  }
}

}  // namespace

std::vector<array::Run> Stripe::runs() const {
  if (is_whole || has_bug(Bug::stripe_written_whole)) {
    return {{.index = begin, .elements = end - begin}};
  }
  std::vector<array::Run> all;
  for (const Part& part : parts) {
    if (part.piece->is_blank) {
      continue;
    }
    array::RunCursor cursor{variable.shape, part.piece->region, part.first, part.count};
    array::Run run;
    while (cursor.next(run)) {
      all.push_back(run);
    }
  }
  return array::joined(std::move(all));
}

void end_parts(std::vector<Stripe::Part>& parts, const Outcome& outcome) {
  for (auto& part : parts) {
    part.loan.reset();
    end(part.piece, part.count, outcome);
  }
}

Stripes::Stripes(staging::StripeMemory& memory, const Terms& terms)
    : memory_{memory}, terms_{terms} {}

std::int64_t Stripes::fitting(std::int64_t asked, std::size_t memory_bytes) {
  const auto each = static_cast<std::int64_t>(memory_bytes) / stripes_at_once;
  const std::int64_t bytes = std::min(asked, each) / page * page;
  return bytes < smallest_bytes ? 0 : bytes;
}

std::int64_t Stripes::long_run_bytes(std::int64_t stripe_bytes) noexcept {
  return stripe_bytes / runs_per_stripe + 1;
}

std::int64_t elements_in_stripe(const Piece& piece, std::int64_t first) {
  const Span span = span_of(piece, index_of(piece, first));
  return array::elements_below(piece.variable.shape, piece.region, span.end) - first;
}

Stripes::Key Stripes::key_of(const Piece& piece, std::int64_t begin) const {
  return {.file = terms_.file, .step = piece.step, .begin = begin, .variable = piece.variable.id};
}

void Stripes::choose(Piece& piece, std::int64_t begin, std::int64_t end) const {
  const std::int64_t element = piece.element_bytes();
  const std::int64_t row = array::row_elements(piece.variable.shape, piece.region);
  const bool is_strided = row < piece.elements_left;
  if (terms_.bytes == 0 || !is_strided || row * element >= terms_.run_bytes) {
    return;
  }
  // Only a piece that was cut at the borders of this domain is here as a whole.
  if (index_of(piece, piece.first) >= begin &&
      index_of(piece, piece.first + piece.elements_left - 1) < end) {
    divide(piece, begin, end);
  }
}

void Stripes::choose_fill(Piece& piece, std::int64_t begin, std::int64_t end) const {
  if (terms_.bytes > 0) {
    piece.is_fill = true;
    divide(piece, begin, end);
  }
}

void Stripes::divide(Piece& piece, std::int64_t begin, std::int64_t end) const {
  piece.domain_begin = begin;
  piece.domain_end = end;
  piece.stripe_elements = std::max<std::int64_t>(1, terms_.bytes / piece.element_bytes());
}

bool Stripes::has_room(const Piece& piece, std::int64_t first) const {
  const Span span = span_of(piece, index_of(piece, first));
  const Key key = key_of(piece, span.begin);
  const std::int64_t bytes = (span.end - span.begin) * piece.element_bytes() + page;
  return open_.contains(key) || memory_.has_room(key, static_cast<std::size_t>(bytes));
}

// Returns null if there is no memory, or nothing that fill values could join.
Stripe* Stripes::open(const Piece& piece, std::int64_t index) {
  const Span span = span_of(piece, index);
  const Key key = key_of(piece, span.begin);
  if (const auto found = open_.find(key); found != open_.end()) {
    if (memory_.look(found->second.hold.held()) == State::open) {
      return &found->second;
    }
    (void)move_out(found, withdrawn_);
  }
  const std::int64_t element = piece.element_bytes();
  const std::int64_t skew = (piece.offset + span.begin * element) % page;
  const std::int64_t elements = span.end - span.begin;
  const auto bytes = static_cast<std::size_t>(elements * element + skew);
  const auto held =
      piece.is_fill ? memory_.hold_open(key, bytes) : memory_.hold(key, bytes, elements);
  if (!held) {
    return nullptr;
  }
  Stripe& stripe = open_[key];
  stripe.variable = piece.variable;
  stripe.step = piece.step;
  stripe.begin = span.begin;
  stripe.end = span.end;
  stripe.hold = {memory_, *held};
  stripe.bytes = held->bytes.data() + skew;
  return &stripe;
}

void Stripes::take(Chunk& chunk, double now) {
  while (chunk.count > 0) {
    const std::int64_t count = std::min(chunk.count, elements_in_stripe(*chunk.piece, chunk.first));
    Stripe* const stripe = open(*chunk.piece, index_of(*chunk.piece, chunk.first));
    if (stripe == nullptr) {
      return;
    }
    copy(chunk, count, *stripe);
    add_part(chunk, count, *stripe, now);
  }
}

void Stripes::add_part(Chunk& chunk, std::int64_t count, Stripe& stripe, double now) {
  Stripe::Part& part = stripe.parts.emplace_back();
  part.piece = chunk.piece;
  part.first = chunk.first;
  part.count = count;
  if (count == chunk.count) {
    // A lent chunk ends where a stripe does, so the loan lasts until all of it is written.
    part.loan = std::move(chunk.loan);
  }
  stripe.touched = now;
  chunk.piece->elements_with_others += count;
  unclaimed_[stripe.step] += count;
  chunk.first += count;
  chunk.count -= count;
  chunk.bytes = chunk.bytes.subspan(static_cast<std::size_t>(count * chunk.piece->element_bytes()));
  if (memory_.fill(stripe.hold.held(), count)) {
    stripe.is_whole = !terms_.may_overlap;
    claim(stripe, stripe.end - stripe.begin);
    const auto found = open_.find(key_of(*chunk.piece, stripe.begin));
    full_.push_back(std::move(found->second));
    open_.erase(found);
  }
}

// This process writes so many elements of the stripe.
void Stripes::claim(Stripe& stripe, std::int64_t elements) {
  take_from_others(stripe);
  unclaimed_[stripe.step] -= elements;
}

// Moves a stripe that is no longer open. Others write it, or this process writes its parts.
Stripes::Open::iterator Stripes::move_out(Open::iterator at, std::vector<Stripe>& withdrawn) {
  Stripe& stripe = at->second;
  if (memory_.look(stripe.hold.held()) == State::withdrawn) {
    std::int64_t own = 0;
    for (const auto& part : stripe.parts) {
      own += part.count;
    }
    claim(stripe, own);
    withdrawn.push_back(std::move(stripe));
  } else {
    elsewhere_.push_back(std::move(stripe));
  }
  return open_.erase(at);
}

// Copies the first elements of a chunk.
void Stripes::copy(const Chunk& chunk, std::int64_t count, const Stripe& stripe) const {
  const Piece& piece = *chunk.piece;
  const auto element = static_cast<std::size_t>(piece.element_bytes());
  share(terms_.crew, chunk.bytes.first(static_cast<std::size_t>(count) * element), element,
        [&](std::size_t begin, std::size_t end) {
          array::scatter({piece.variable.shape, piece.region,
                          chunk.first + static_cast<std::int64_t>(begin / element),
                          static_cast<std::int64_t>((end - begin) / element), element,
                          chunk.bytes.data() + begin},
                         terms_.swaps_bytes ? array::number_bytes(piece.variable.type) : 0,
                         stripe.bytes, stripe.begin);
        });
}

bool Stripes::hear_of_others() {
  for (auto at = open_.begin(); at != open_.end();) {
    const bool is_open = memory_.look(at->second.hold.held()) == State::open;
    at = is_open ? std::next(at) : move_out(at, withdrawn_);
  }
  auto written = taken_out(elsewhere_, [this](const Stripe& stripe) {
    return memory_.look(stripe.hold.held()) == State::written;
  });
  for (auto& stripe : written) {
    const Outcome outcome = memory_.outcome(stripe.hold.held());
    take_from_others(stripe);
    end_parts(stripe.parts, outcome);
  }
  return !written.empty() || !withdrawn_.empty();
}

template <typename IsMeant>
std::vector<Stripe> Stripes::withdraw_if(IsMeant&& is_meant) {
  std::vector<Stripe> withdrawn;
  for (auto at = open_.begin(); at != open_.end();) {
    if (is_meant(at->second)) {
      memory_.withdraw(at->second.hold.held());
      at = move_out(at, withdrawn);
    } else {
      ++at;
    }
  }
  return withdrawn;
}

std::vector<Stripe> Stripes::withdraw_step(std::int64_t step) {
  return withdraw_if([step](const Stripe& stripe) { return stripe.step == step; });
}

std::vector<Stripe> Stripes::withdraw_oldest() {
  const double when = oldest();
  bool is_found = false;
  return withdraw_if([&](const Stripe& stripe) {
    return stripe.touched <= when && !std::exchange(is_found, true);
  });
}

double Stripes::oldest() const {
  return std::ranges::min_element(open_, {}, [](const auto& entry) { return entry.second.touched; })
      ->second.touched;
}

std::vector<Stripe> Stripes::withdraw_late(double now,
                                           const std::function<bool(const Stripe&)>& is_awaited) {
  auto late = withdraw_if([&](const Stripe& stripe) {
    const double untouched = now - stripe.touched;
    return untouched >= terms_.longest_seconds ||
           (untouched >= grace_seconds && is_awaited(stripe));
  });
  give_back_loans(now - grace_seconds);
  return late;
}

void Stripes::give_back_loans(double time) {
  for (auto& [key, stripe] : open_) {
    if (stripe.touched <= time) {
      std::ranges::for_each(stripe.parts, [](Stripe::Part& part) { part.loan = {}; });
    }
  }
}

void Stripes::settle(std::int64_t from, std::int64_t to, const Outcome& outcome) {
  const auto is_over = [=](const Stripe& stripe) {
    return stripe.step >= from && stripe.step < to;
  };
  for (auto& stripe : taken_out(withdrawn_, is_over)) {
    end_parts(stripe.parts, outcome);
  }
  std::vector<Stripe> over;
  for (auto at = open_.begin(); at != open_.end();) {
    if (is_over(at->second)) {
      over.push_back(std::move(at->second));
      at = open_.erase(at);
    } else {
      ++at;
    }
  }
  std::ranges::move(taken_out(elsewhere_, is_over), std::back_inserter(over));
  unclaimed_.erase(unclaimed_.lower_bound(from), unclaimed_.lower_bound(to));
  for (auto& stripe : over) {
    take_from_others(stripe);
    stripe.hold = {};
    end_parts(stripe.parts, outcome);
  }
}

std::int64_t Stripes::unclaimed(std::int64_t step) const {
  const auto found = unclaimed_.find(step);
  return found == unclaimed_.end() ? 0 : found->second;
}

}  // namespace iocomp::writing
