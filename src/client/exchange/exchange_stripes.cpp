// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange_stripes.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "client/exchange/exchange.h"
#include "client/exchange/exchange_parts.h"
#include "mpi/error.h"
#include "staging/arena.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::client {
namespace {

// Returns the bytes of the longest stripe.
std::size_t stripe_bytes(const std::vector<ExchangedPart>& parts) {
  std::int64_t most = 0;
  for (const ExchangedPart& part : parts) {
    const writing::Piece& piece = *part.piece;
    const std::int64_t elements =
        std::min(piece.stripe_elements, piece.domain_end - piece.domain_begin);
    most = std::max(most, elements * piece.element_bytes());
  }
  return static_cast<std::size_t>(most);
}

}  // namespace

// Stripes use half of the arena, so that a stripe has room wherever it begins in a page.
ExchangeStripes::ExchangeStripes(const Exchange::Setup& setup, const Exchange::Target& target,
                                 std::vector<ExchangedPart> parts)
    : comm_{setup.comm},
      target_{target},
      parts_{std::move(parts)},
      scratch_{stripe_bytes(parts_), "blocks that are exchanged"},
      arena_{2 * (scratch_.bytes().size() + 2 * staging::Arena::page_bytes)},
      stripes_{memory_,
               {.file = 0,
                .bytes = setup.stripe_bytes,
                .run_bytes = writing::Stripes::long_run_bytes(setup.stripe_bytes),
                .may_overlap = setup.may_overlap,
                .swaps_bytes = target.swaps_bytes,
                .crew = setup.crew}} {}

bool ExchangeStripes::advance() {
  if (is_done_) {
    return false;
  }
  const bool moved = end_receives();
  if (missing_ > 0) {
    return moved;
  }
  write(stripes_.withdraw_step(0));
  is_done_ = !begin_stripe();
  return true;
}

// @return true if there is a stripe left.
bool ExchangeStripes::begin_stripe() {
  const std::size_t first = next_;
  std::span<std::byte> scratch = scratch_.bytes();
  for (; next_ < parts_.size() && !is_before(parts_[first], parts_[next_]); ++next_) {
    expect(parts_[next_], scratch);
  }
  return next_ > first;
}

void ExchangeStripes::expect(const ExchangedPart& part, std::span<std::byte>& scratch) {
  if (part.block != nullptr) {
    std::vector<std::byte> packed;
    put_in(part, bytes_of(part, packed));
    return;
  }
  Receiving& receiving = receiving_.emplace_back(Receiving{part, {}, {}});
  const std::size_t bytes = part.bytes();
  if (bytes > scratch.size()) {
    receiving.own.resize(bytes);
    receiving.bytes = receiving.own;
  } else {
    receiving.bytes = scratch.first(bytes);
    scratch = scratch.subspan(bytes);
  }
  mpi::check(MPI_Irecv(receiving.bytes.data(), checked_cast<int>(bytes), MPI_BYTE, part.from,
                       part_tag, comm_, &requests_.emplace_back(MPI_REQUEST_NULL)));
  ++missing_;
}

bool ExchangeStripes::end_receives() {
  const auto ended = take_ended(requests_);
  for (const int number : ended) {
    const auto& done = receiving_[static_cast<std::size_t>(number)];
    put_in(done.part, done.bytes);
    --missing_;
  }
  if (missing_ == 0) {
    requests_.clear();
    receiving_.clear();
  }
  return !ended.empty();
}

void ExchangeStripes::put_in(const ExchangedPart& part, std::span<const std::byte> bytes) {
  writing::Chunk chunk;
  chunk.piece = part.piece;
  chunk.first = part.first;
  chunk.count = part.count;
  chunk.bytes = bytes;
  stripes_.take(chunk, 0);
  if (chunk.count > 0) {
    throw Error{ErrorCode::internal, "a stripe of exchanged blocks has no room"};
  }
  write(stripes_.take_full());
}

void ExchangeStripes::write(const std::vector<writing::Stripe>& stripes) {
  for (const auto& stripe : stripes) {
    if (!failure_.ok()) {
      return;
    }
    const std::int64_t element = stripe.parts.front().piece->element_bytes();
    failure_ = outcome_of([&] {
      for (const auto& run : stripe.runs()) {
        target_.write(stripe.variable, run.index,
                      {stripe.bytes + (run.index - stripe.begin) * element,
                       static_cast<std::size_t>(run.elements * element)});
      }
    });
  }
}

}  // namespace iocomp::client
