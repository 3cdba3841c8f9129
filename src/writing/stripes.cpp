// SPDX-License-Identifier: BSD-3-Clause
#include "writing/stripes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/runs.h"
#include "array/scatter.h"
#include "base/bug.h"
#include "base/crew.h"
#include "staging/arena.h"
#include "writing/piece.h"

namespace iocomp::writing {
namespace {

constexpr auto page = static_cast<std::int64_t>(staging::Arena::page_bytes);
constexpr std::int64_t smallest_bytes = std::int64_t{64} << 10;
constexpr std::int64_t stripes_at_once = 8;
// Runs of this part of a stripe are written well enough one by one.
constexpr std::int64_t runs_per_stripe = 4;
// A stripe that somebody waits for is written when nothing was added to it for so long: in a step
// of equal ranks the others come within that time.
constexpr double grace_seconds = 0.05;
// Any other: the program may wait in a way that this process is not told of.
constexpr double longest_seconds = 1;

struct Span {
  std::int64_t index;     // of the first element
  std::int64_t elements;  // in a stripe
};

Span stripe_of(const Piece& piece, std::int64_t index) {
  const std::int64_t before = (index - piece.domain_begin) / piece.stripe_elements;
  const std::int64_t begin = piece.domain_begin + before * piece.stripe_elements;
  return {begin, std::min(piece.stripe_elements, piece.domain_end - begin)};
}

}  // namespace

std::int64_t elements_in_stripe(const Piece& piece, std::int64_t first) {
  const Span span = stripe_of(piece, index_of(piece, first));
  return array::elements_below(piece.variable.shape, piece.region, span.index + span.elements) -
         first;
}

std::vector<array::Run> Stripe::runs() const {
  if (is_full() || has_bug(Bug::stripe_written_whole)) {
    return {{.index = begin, .elements = end - begin}};
  }
  std::vector<array::Run> all;
  for (const Part& part : parts) {
    array::RunCursor cursor{variable.shape, part.piece->region, part.first, part.count};
    array::Run run;
    while (cursor.next(run)) {
      all.push_back(run);
    }
  }
  return array::joined(std::move(all));
}

Stripes::Stripes(staging::Arena& arena, std::int64_t bytes, bool may_overlap, bool swaps_bytes,
                 Crew* crew)
    : arena_{arena},
      bytes_{bytes},
      may_overlap_{may_overlap},
      swaps_bytes_{swaps_bytes},
      crew_{crew} {}

std::int64_t Stripes::fitting(std::int64_t asked, const staging::Arena& arena) {
  const auto each = static_cast<std::int64_t>(arena.capacity_bytes()) / stripes_at_once;
  const std::int64_t bytes = std::min(asked, each) / page * page;
  return bytes < smallest_bytes ? 0 : bytes;
}

void Stripes::choose(Piece& piece, std::int64_t begin, std::int64_t end) const {
  const std::int64_t element = piece.element_bytes();
  const std::int64_t row = array::row_elements(piece.variable.shape, piece.region);
  const bool is_strided = row < piece.elements_left;
  if (!is_strided || row * element * runs_per_stripe > bytes_) {
    return;
  }
  // Only what was cut at the borders of this domain is all here.
  if (index_of(piece, piece.first) >= begin &&
      index_of(piece, piece.first + piece.elements_left - 1) < end) {
    piece.domain_begin = begin;
    piece.domain_end = end;
    piece.stripe_elements = std::max<std::int64_t>(1, bytes_ / element);
  }
}

bool Stripes::fits(std::int64_t bytes) const noexcept {
  const auto pages = [](std::int64_t of) { return (of + page - 1) / page * page; };
  std::int64_t used = pages(bytes);
  for (const auto& [key, stripe] : open_) {
    used += pages(std::ssize(stripe.lease.bytes()));
  }
  return 2 * used <= static_cast<std::int64_t>(arena_.capacity_bytes());
}

bool Stripes::has_room(const Piece& piece, std::int64_t first) const {
  const Span span = stripe_of(piece, index_of(piece, first));
  return open_.contains({piece.step, piece.variable.id, span.index}) ||
         fits(span.elements * piece.element_bytes() + page);
}

// Nothing where there is no memory.
Stripe* Stripes::open(const Piece& piece, std::int64_t index) {
  const Span span = stripe_of(piece, index);
  const Key key{piece.step, piece.variable.id, span.index};
  if (const auto found = open_.find(key); found != open_.end()) {
    return &found->second;
  }
  const std::int64_t element = piece.element_bytes();
  const std::int64_t skew = (piece.offset + span.index * element) % page;
  const std::int64_t bytes = span.elements * element + skew;
  auto lease = fits(bytes) ? arena_.try_take(static_cast<std::size_t>(bytes)) : std::nullopt;
  if (!lease) {
    return nullptr;
  }
  Stripe& stripe = open_[key];
  stripe.variable = piece.variable;
  stripe.step = piece.step;
  stripe.begin = span.index;
  stripe.end = span.index + span.elements;
  stripe.lease = std::move(*lease);
  stripe.may_overlap = may_overlap_;
  stripe.bytes = stripe.lease.bytes().data() + skew;
  return &stripe;
}

void Stripes::take(Chunk& chunk, double now) {
  while (chunk.count > 0) {
    const std::int64_t count = std::min(chunk.count, elements_in_stripe(*chunk.piece, chunk.first));
    const std::int64_t index = index_of(*chunk.piece, chunk.first);
    Stripe* const stripe = open(*chunk.piece, index);
    if (stripe == nullptr) {
      return;
    }
    const auto element = static_cast<std::size_t>(chunk.piece->element_bytes());
    copy(chunk, count, *stripe);
    const auto bytes = static_cast<std::size_t>(count) * element;
    Stripe::Part& part = stripe->parts.emplace_back();
    part.piece = chunk.piece;
    part.first = chunk.first;
    part.count = count;
    if (count == chunk.count) {
      // Chunks that are lent end where a stripe does: so the loan lasts until all is written.
      part.loan = std::move(chunk.loan);
    }
    stripe->filled += count;
    stripe->touched = now;
    chunk.first += count;
    chunk.count -= count;
    chunk.bytes = chunk.bytes.subspan(bytes);
    if (stripe->filled >= stripe->end - stripe->begin) {
      const Key key{stripe->step, stripe->variable.id, stripe->begin};
      full_.push_back(std::move(*stripe));
      open_.erase(key);
    }
  }
}

// The first elements of a chunk.
void Stripes::copy(const Chunk& chunk, std::int64_t count, const Stripe& stripe) const {
  const Piece& piece = *chunk.piece;
  const auto element = static_cast<std::size_t>(piece.element_bytes());
  share(crew_, chunk.bytes.first(static_cast<std::size_t>(count) * element), element,
        [&](std::size_t begin, std::size_t end) {
          array::scatter({piece.variable.shape, piece.region,
                          chunk.first + static_cast<std::int64_t>(begin / element),
                          static_cast<std::int64_t>((end - begin) / element), element,
                          chunk.bytes.data() + begin},
                         swaps_bytes_, stripe.bytes, stripe.begin);
        });
}

std::vector<Stripe> Stripes::take_full() { return std::exchange(full_, {}); }

std::vector<Stripe> Stripes::take_step(std::int64_t step) {
  return take_if([step](const Stripe& stripe) { return stripe.step == step; });
}

std::vector<Stripe> Stripes::take_from(std::int64_t step) {
  return take_if([step](const Stripe& stripe) { return stripe.step >= step; });
}

Stripe Stripes::take_oldest() {
  const auto oldest =
      std::ranges::min_element(open_, {}, [](const auto& entry) { return entry.second.touched; });
  Stripe taken = std::move(oldest->second);
  open_.erase(oldest);
  return taken;
}

double Stripes::oldest() const {
  return std::ranges::min_element(open_, {}, [](const auto& entry) { return entry.second.touched; })
      ->second.touched;
}

std::vector<Stripe> Stripes::take_late(double now,
                                       const std::function<bool(const Stripe&)>& is_awaited) {
  auto late = take_if([&](const Stripe& stripe) {
    const double untouched = now - stripe.touched;
    return untouched >= longest_seconds || (untouched >= grace_seconds && is_awaited(stripe));
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

}  // namespace iocomp::writing
