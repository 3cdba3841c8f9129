// SPDX-License-Identifier: BSD-3-Clause
#include "writing/step_output.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/free_ranges.h"
#include "contents/description.h"
#include "formats/format.h"
#include "formats/write_region.h"
#include "staging/arena.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "writing/piece.h"

namespace iocomp::writing {

namespace {

void count(const formats::Compressed& compressed, trace::Counters& counters) {
  using trace::Counter;
  counters.add(Counter::raw_bytes, static_cast<double>(compressed.raw_bytes));
  counters.add(Counter::compressed_bytes, static_cast<double>(compressed.stored_bytes));
  counters.add(Counter::compress_seconds, compressed.seconds);
}

// Returns "compressed 8 MiB to 2 MiB, 0.120 s of threads"; empty if nothing was compressed.
std::string told(const formats::Compressed& compressed) {
  if (compressed.stored_bytes <= 0) {
    return {};
  }
  std::array<char, 40> time{};
  std::snprintf(time.data(), time.size(), ", %.3f s of threads", compressed.seconds);
  return "compressed " + format_bytes(compressed.raw_bytes) + " to " +
         format_bytes(compressed.stored_bytes) + time.data();
}

}  // namespace

void StepOutput::write(Chunk chunk) {
  const auto piece = chunk.piece;
  const std::int64_t elements = chunk.count;
  const Outcome outcome = outcome_of([&] {
    if (file_.steps() == nullptr) {
      throw Error{ErrorCode::storage_failure, "the step was given up"};
    }
    begun_ = piece->step;
    formats::write_region(*file_.steps(), {piece->step, piece->variable, -1}, piece->region,
                          chunk.first, chunk.count, chunk.bytes);
  });
  if (outcome.ok()) {
    kept_.push_back(std::move(chunk));
  }
  end(piece, elements, outcome);
}

void StepOutput::begin_step(std::int64_t number, contents::Description description) {
  target_ = file_.steps();
  number_ = number;
  description_ = std::move(description);
  target_->begin_step(number_, description_);
}

void StepOutput::write_step() {
  const double begin = now_seconds();
  // GCC 12 leaves a plain struct without its initial values where the call that assigns it throws.
  std::optional<formats::Compressed> written;
  const Outcome outcome = outcome_of([&] { written = target_->write_step(number_, description_); });
  compressed_ = written.value_or(formats::Compressed{});
  file_.recorder()(trace::What::write, begin,
                   {.step = begun_, .bytes = given_bytes(), .text = told(compressed_)});
  outcome.throw_unless_ok();
}

Outcome StepOutput::end_step(Outcome written) {
  target_->forget_step();
  if (written.ok()) {
    written = outcome_of([this] { target_->end_step(number_, description_); });
  }
  count(std::exchange(compressed_, {}), file_.counters());
  begun_ = -1;
  kept_.clear();
  return written;
}

std::int64_t StepOutput::given_bytes() const {
  std::int64_t bytes = 0;
  for (const Chunk& chunk : kept_) {
    bytes += std::ssize(chunk.bytes);
  }
  return bytes;
}

// Chunks of the next step may be here already, after this one was written.
void StepOutput::forget(std::int64_t step) {
  if (begun_ == step) {
    begun_ = -1;
    if (file_.steps() != nullptr) {
      file_.steps()->forget_step();
    }
  }
  std::erase_if(kept_, [step](const Chunk& chunk) { return chunk.piece->step == step; });
}

std::size_t StepOutput::kept_bytes(const std::function<bool(std::int64_t)>& is_wanted) const {
  std::size_t bytes = 0;
  std::set<const staging::Lease*> rows;  // shared by neighbours
  for (const Chunk& chunk : kept_) {
    const bool is_counted_already = chunk.row != nullptr && !rows.insert(chunk.row.get()).second;
    if (is_wanted(chunk.piece->step) && !is_counted_already) {
      bytes += whole_pages((chunk.row ? *chunk.row : chunk.lease).bytes().size());
    }
  }
  return bytes;
}

}  // namespace iocomp::writing
