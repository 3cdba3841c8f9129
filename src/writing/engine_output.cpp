// SPDX-License-Identifier: BSD-3-Clause
#include "writing/engine_output.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "array/runs.h"
#include "base/clock.h"
#include "base/error.h"
#include "disk/engine.h"
#include "trace/event.h"
#include "trace/span.h"
#include "writing/piece.h"

namespace iocomp::writing {
namespace {

// The engine takes a plan of this size as a small one, and writes it at once.
constexpr std::size_t gathered_bytes_at_most = std::size_t{192} << 10;
constexpr std::size_t gathered_at_most = 64;

void add_writes(const Chunk& chunk, std::vector<disk::Write>& writes) {
  const Piece& piece = *chunk.piece;
  const std::byte* from = chunk.bytes.data();
  array::RunCursor runs{piece.variable.shape, piece.region, chunk.first, chunk.count};
  array::Run run;
  while (runs.next(run)) {
    const auto bytes = static_cast<std::size_t>(run.elements * piece.element_bytes());
    const disk::Write write{piece.offset + run.index * piece.element_bytes(), {from, bytes}};
    const bool follows = !writes.empty() &&
                         writes.back().offset + std::ssize(writes.back().bytes) == write.offset &&
                         writes.back().bytes.data() + writes.back().bytes.size() == from;
    if (follows) {
      writes.back().bytes = {writes.back().bytes.data(), writes.back().bytes.size() + bytes};
    } else {
      writes.push_back(write);
    }
    from += bytes;
  }
}

// Describes chunks for the timeline. Step, rank and ticket are those of the first one.
trace::Subject subject_of(const std::vector<Chunk>& chunks) {
  const Piece& piece = *chunks.front().piece;
  trace::Subject subject{
      .step = piece.step, .rank = piece.giver.rank, .ticket = piece.giver.ticket};
  for (const Chunk& chunk : chunks) {
    subject.bytes += std::ssize(chunk.bytes);
  }
  return subject;
}

}  // namespace

void EngineOutput::write(Chunk chunk) {
  const Outcome opened = outcome_of([this] { (void)file_.open(); });
  if (!opened.ok()) {
    end(std::move(chunk), opened);
    return;
  }
  gathered_bytes_ += chunk.bytes.size();
  gathered_.push_back(std::move(chunk));
  if (gathered_bytes_ > gathered_bytes_at_most || gathered_.size() >= gathered_at_most) {
    submit();
  }
}

void EngineOutput::submit() {
  if (gathered_.empty()) {
    return;
  }
  // The chunks and their memory live until the plan is done.
  auto held = std::make_shared<std::vector<Chunk>>(std::exchange(gathered_, {}));
  gathered_bytes_ = 0;
  disk::Plan plan;
  plan.file = file_.opened();
  for (const Chunk& chunk : *held) {
    add_writes(chunk, plan.writes);
  }
  submit_(std::move(plan), [held, begin = now_seconds(),
                            record = file_.recorder()](const disk::Completion& completion) {
    record(trace::What::write, begin, subject_of(*held));
    for (Chunk& chunk : *held) {
      end(std::move(chunk), {completion.code, completion.story});
    }
  });
}

}  // namespace iocomp::writing
