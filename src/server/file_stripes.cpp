#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/runs.h"
#include "base/clock.h"
#include "base/error.h"
#include "disk/engine.h"
#include "formats/format.h"
#include "formats/write_region.h"
#include "server/context.h"
#include "server/file.h"
#include "server/piece.h"
#include "server/stripes.h"
#include "trace/counters.h"

namespace iocomp::server {
namespace {

constexpr std::int64_t slice_bytes = std::int64_t{8}
                                     << 20;  // of an MPI write between two rounds of receiving
// A stripe that somebody waits for is written when nothing was added to it for so long: in a step
// of equal ranks the others come within that time.
constexpr double grace_seconds = 0.05;
// Any other: the program may wait in a way that this server is not told of.
constexpr double longest_seconds = 1;

}  // namespace

std::int64_t File::elements_at_once(const Piece& piece, std::int64_t first,
                                    std::int64_t at_most) const {
  return piece.is_joined() ? std::min(at_most, elements_in_stripe(piece, first)) : at_most;
}

// What finds no room among others is written by itself.
void File::join(Chunk chunk) {
  const Piece& piece = *chunk.piece;
  const auto before = chunk.count;
  stripes_.take(chunk, offset(piece, room(piece.step, piece.variable.id)), now_seconds());
  context_.counters.add(trace::Counter::joined_bytes,
                        static_cast<double>((before - chunk.count) * piece.element_bytes()));
  write(stripes_.take_full());
  if (chunk.count > 0) {
    write_alone(std::move(chunk));
  }
}

void File::came(const std::shared_ptr<Piece>& piece, std::int64_t elements) {
  piece->elements_to_come -= elements;
  if (piece->elements_to_come == 0) {
    ++steps_[piece->step].come;
    check_stripes(piece->step);
  }
}

// Of a step that is here as a whole nothing more will come: what was not put stays a hole.
void File::check_stripes(std::int64_t number) {
  const auto step = steps_.find(number);
  if (step != steps_.end() && step->second.expected >= 0 &&
      step->second.come >= step->second.expected) {
    write(stripes_.take_step(number));
  }
}

void File::write(std::vector<Stripe> stripes) {
  for (auto& stripe : stripes) {
    write(std::move(stripe));
  }
}

void File::write(Stripe stripe) {
  context_.counters.add(
      stripe.is_full() ? trace::Counter::stripes : trace::Counter::partial_stripes, 1);
  const std::int64_t number = publication_.target_of(stripe.step);
  const auto runs = stripe.runs();
  auto held = std::make_unique<Stripe>(std::move(stripe));
  if (!is_plain()) {
    target(number).to_write.push_back(
        {.chunk = {}, .stripe = std::move(held), .runs = {runs.begin(), runs.end()}});
    return;
  }
  const Outcome opened = outcome_of([&] { (void)output(number); });
  if (!opened.ok()) {
    stripe_done(*held, opened);
    return;
  }
  disk::Plan plan;
  plan.file = target(number).file;
  const Piece& any = *held->parts.front().piece;
  const std::int64_t element = any.element_bytes();
  const std::int64_t begin = offset(any, room(any.step, any.variable.id));
  for (const auto& run : runs) {
    const std::span<const std::byte> bytes{held->bytes + (run.index - held->begin) * element,
                                           static_cast<std::size_t>(run.elements * element)};
    plan.writes.push_back({begin + run.index * element, bytes});
  }
  context_.submit(std::move(plan), [this, shared = std::shared_ptr<Stripe>{std::move(held)}](
                                       const disk::Completion& completion) {
    stripe_done(*shared, {completion.code, completion.story});
  });
}

void File::stripe_done(Stripe& stripe, const Outcome& outcome) {
  auto parts = std::exchange(stripe.parts, {});
  if (!outcome.ok()) {
    for (const auto& part : parts) {
      fail_piece(*part.piece, {outcome.code, told(*part.piece, outcome.story)});
    }
    context_.post.flush();  // before what stands for the bytes is gone: this server may end
  }
  stripe.lease = {};
  for (auto& part : parts) {
    part.loan = {};
    Chunk done;
    done.piece = part.piece;
    done.count = part.count;
    chunk_done(done);
  }
}

void File::drop(std::vector<Stripe> stripes, const Outcome& outcome) {
  for (auto& stripe : stripes) {
    stripe_done(stripe, outcome);
  }
}

void File::write_oldest_stripe() { write(stripes_.take_oldest()); }

bool File::write_late_stripes(double now) {
  const auto is_awaited = [this](const Stripe& stripe) {
    return std::ranges::any_of(stripe.parts, [&](const Stripe::Part& part) {
      const auto early = written_early_.find(part.piece->client);
      return early != written_early_.end() && stripe.step <= early->second;
    });
  };
  auto late = stripes_.take_untouched(now - grace_seconds, is_awaited);
  auto old = stripes_.take_untouched(now - longest_seconds, [](const Stripe&) { return true; });
  stripes_.give_back_loans(now - grace_seconds);
  const bool any = !late.empty() || !old.empty();
  write(std::move(late));
  write(std::move(old));
  return any;
}

bool File::write_slice() {
  return std::ranges::any_of(targets_, [this](auto& entry) {
    auto& [number, writing] = entry;
    if (writing.to_write.empty() || !writing.format) {
      return false;
    }
    context_.busy.begin(trace::Activity::write, now_seconds());
    const bool is_stripe = writing.to_write.front().stripe != nullptr;
    is_stripe ? write_stripe_slice(number, writing) : write_chunk_slice(number, writing);
    context_.busy.end(trace::Activity::write, now_seconds());
    return true;
  });
}

void File::write_chunk_slice(std::int64_t number, Target& writing) {
  Chunk& chunk = writing.to_write.front().chunk;
  Piece& piece = *chunk.piece;
  const std::int64_t element = piece.element_bytes();
  const std::int64_t now = std::min(chunk.count, std::max<std::int64_t>(1, slice_bytes / element));
  const auto bytes = chunk.bytes.first(static_cast<std::size_t>(now * element));
  if (piece.failure.ok()) {
    const std::int64_t where = offset(piece, room(piece.step, piece.variable.id));
    const Outcome outcome = outcome_of([&] {
      (void)output(number);  // the descriptor that will be fsynced is held open from before the
                             // first write
      formats::write_region(*writing.format, {piece.step, piece.variable, where}, piece.region,
                            chunk.first, now, bytes);
    });
    if (!outcome.ok()) {
      fail_piece(piece, {outcome.code, told(piece, outcome.story)});
    }
  }
  if (now < chunk.count && piece.failure.ok()) {
    chunk.bytes = chunk.bytes.subspan(bytes.size());
    chunk.first += now;
    chunk.count -= now;
    piece.elements_left -= now;
    return;
  }
  Chunk done = std::move(chunk);
  writing.to_write.pop_front();
  done.free_memory();
  chunk_done(done);
}

void File::write_stripe_slice(std::int64_t number, Target& writing) {
  auto& [chunk, stripe, runs] = writing.to_write.front();
  const Piece& any = *stripe->parts.front().piece;
  const std::int64_t element = any.element_bytes();
  const std::int64_t where = offset(any, room(any.step, any.variable.id));
  const Outcome outcome = outcome_of([&] {
    (void)output(number);
    std::int64_t left = std::max<std::int64_t>(1, slice_bytes / element);
    while (left > 0 && !runs.empty()) {
      auto& run = runs.front();
      const std::int64_t now = std::min(left, run.elements);
      writing.format->write({stripe->step, stripe->variable, where},
                            {array::whole(stripe->variable.shape), run.index, now},
                            {stripe->bytes + (run.index - stripe->begin) * element,
                             static_cast<std::size_t>(now * element)});
      left -= now;
      run.index += now;
      run.elements -= now;
      if (run.elements == 0) {
        runs.pop_front();
      }
    }
  });
  if (outcome.ok() && !runs.empty()) {
    return;
  }
  const auto done = std::move(stripe);
  writing.to_write.pop_front();
  stripe_done(*done, outcome);
}

}  // namespace iocomp::server
