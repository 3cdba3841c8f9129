// SPDX-License-Identifier: BSD-3-Clause
#include "writing/file_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "array/byte_order.h"
#include "array/region.h"
#include "array/repeat.h"
#include "array/runs.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/crew.h"
#include "base/error.h"
#include "contents/variable.h"
#include "disk/engine.h"
#include "formats/format.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"
#include "writing/library_output.h"
#include "writing/output.h"
#include "writing/physical_file.h"
#include "writing/piece.h"
#include "writing/spill.h"
#include "writing/step_output.h"
#include "writing/stripes.h"
#include "writing/submit.h"
#include "writing/sync_queue.h"

namespace iocomp::writing {

/// A plain file. Chunks become plans of the disk engine; small ones share a plan, its writes and
/// its answer. This is the one place that decides at which offset a byte of a plain file goes.
class EngineOutput : public Output {
 public:
  EngineOutput(PhysicalFile& file, Submit submit) : file_{file}, submit_{std::move(submit)} {}

  void write(Chunk chunk) override;
  void submit() override;

 private:
  PhysicalFile& file_;
  Submit submit_;
  std::vector<Chunk> gathered_;
  std::size_t gathered_bytes_ = 0;
};

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

namespace {

constexpr std::size_t most_fill_bytes = std::size_t{256} << 10;  // held at a time

// The value of one element, so many times. An empty value is zero.
std::vector<std::byte> repeated(std::span<const std::byte> value, std::size_t element_bytes,
                                std::size_t times) {
  std::vector<std::byte> all(times * element_bytes);
  if (!value.empty()) {
    array::repeat(value, all);
  }
  return all;
}

}  // namespace

FileWriter::FileWriter(Setup setup)
    : file_{std::move(setup.path), std::move(setup.name), setup.disk, setup.opening,
            *setup.counters},
      stripes_{setup.stripes},
      counters_{*setup.counters},
      swaps_bytes_{setup.swaps_bytes},
      crew_{setup.disk.crew},
      spill_{setup.kind == formats::Kind::step ? nullptr : setup.spill},
      output_{make_output(setup)},
      syncs_{std::make_shared<SyncQueue>(setup.submit, file_.recorder())} {}

std::unique_ptr<Output> FileWriter::make_output(const Setup& setup) {
  if (setup.kind == formats::Kind::plain) {
    return std::make_unique<EngineOutput>(file_, setup.submit);
  }
  if (setup.kind == formats::Kind::shared) {
    return std::make_unique<LibraryOutput>(file_, setup.disk.pace);
  }
  auto steps = std::make_unique<StepOutput>(file_);
  steps_ = steps.get();
  return steps;
}

void FileWriter::write(Chunk chunk) {
  if (chunk.piece->is_joined() && stripes_ != nullptr && chunk.piece->failure.ok()) {
    (void)join(chunk);
    if (chunk.count == 0) {
      return;
    }
  }
  write_alone(std::move(chunk));
}

void FileWriter::write_alone(Chunk chunk) {
  if (!chunk.piece->failure.ok()) {
    end(std::move(chunk));
    return;
  }
  auto spilled = spill_ == nullptr ? std::nullopt : spill_->put(chunk, file_.path().text());
  if (spilled && has_bug(Bug::spilled_is_written)) {
    end(std::move(spilled->chunk));
  } else if (spilled) {
    spilled_.push_back(std::move(*spilled));
  } else {
    pass_on(std::move(chunk));
  }
}

// A chunk that finds no room in a stripe is written by itself. The file is opened first: a step
// that fails may be dropped while this process still owes one of its stripes, and that write must
// not create the file anew.
bool FileWriter::join(Chunk& chunk) {
  if (!outcome_of([this] { (void)file_.open(); }).ok()) {
    return false;  // told when it is written by itself
  }
  const std::int64_t before = chunk.count;
  stripes_->take(chunk, now_seconds());
  counters_.add(trace::Counter::joined_bytes,
                static_cast<double>((before - chunk.count) * chunk.piece->element_bytes()));
  auto full = stripes_->take_full();
  for (auto& stripe : full) {
    write(std::move(stripe));
  }
  return !full.empty();
}

void FileWriter::pass_on(Chunk chunk) {
  const Piece& piece = *chunk.piece;
  if (piece.variable.kept_bits > 0 && !piece.is_rounded) {
    if (chunk.own_bytes.size() != chunk.bytes.size()) {
      end(std::move(chunk),
          {ErrorCode::internal, "what is to be rounded lies in memory of others"});
      return;
    }
    contents::round_values(piece.variable, chunk.own_bytes, swaps_bytes_ && piece.is_in_file_order);
  }
  if (swaps_bytes_ && !piece.is_in_file_order) {
    const auto element = static_cast<std::size_t>(piece.element_bytes());
    share(crew_, chunk.own_bytes, element, [&](std::size_t begin, std::size_t end) {
      array::swap_bytes(chunk.own_bytes.subspan(begin, end - begin),
                        array::number_bytes(piece.variable.type));
    });
  }
  if (spill_ != nullptr) {
    spill_->give(chunk);
  }
  output_->write(std::move(chunk));
}

bool FileWriter::take_back() {
  bool any = false;
  while (!spilled_.empty()) {
    auto& first = spilled_.front();
    Outcome outcome = first.chunk.piece->failure;
    if (outcome.ok()) {
      if (!spill_->has_turn(first) || !spill_->take_memory(first)) {
        break;
      }
      outcome = outcome_of([&] { spill_->read(first); });
    }
    Chunk chunk = std::move(first.chunk);
    spilled_.pop_front();
    outcome.ok() ? pass_on(std::move(chunk)) : end(std::move(chunk), outcome);
    any = true;
  }
  if (any) {
    submit();
  }
  return any;
}

void FileWriter::drop_spilled(std::int64_t from, std::int64_t to, const Outcome& outcome) {
  const auto rest = std::ranges::stable_partition(spilled_, [&](const Spill::Spilled& spilled) {
    return spilled.chunk.piece->step < from || spilled.chunk.piece->step >= to;
  });
  std::vector<Chunk> dropped;
  for (auto& spilled : rest) {
    dropped.push_back(std::move(spilled.chunk));
  }
  spilled_.erase(rest.begin(), rest.end());
  for (auto& chunk : dropped) {
    end(std::move(chunk), outcome);
  }
}

// Writes a stripe like a piece of the whole variable that has the elements that were put.
void FileWriter::write(Stripe stripe) {
  const auto runs = stripe.runs();
  if (runs.empty()) {  // blanks only
    end_parts(stripe.parts, {});
    return;
  }
  counters_.add(stripe.is_whole ? trace::Counter::stripes : trace::Counter::partial_stripes, 1);
  auto piece = std::make_shared<Piece>();
  piece->step = stripe.step;
  piece->variable = stripe.variable;
  piece->region = array::whole(stripe.variable.shape);
  piece->offset = stripe.parts.front().piece->offset;
  piece->is_in_file_order = true;
  for (const auto& run : runs) {
    piece->elements_left += run.elements;
  }
  const auto parts = std::make_shared<std::vector<Stripe::Part>>(std::move(stripe.parts));
  const auto hold = std::make_shared<const StripeHold>(std::move(stripe.hold));
  piece->ended = [parts, &memory = hold->memory(), held = hold->held()](const auto& written) {
    memory.tell(held, written->failure);
    end_parts(*parts, written->failure);
  };
  const std::int64_t element = piece->element_bytes();
  for (const auto& run : runs) {
    Chunk chunk;
    chunk.piece = piece;
    chunk.first = run.index;
    chunk.count = run.elements;
    chunk.loan = hold;
    chunk.bytes = chunk.own_bytes = {stripe.bytes + (run.index - stripe.begin) * element,
                                     static_cast<std::size_t>(run.elements * element)};
    write(std::move(chunk));
  }
  submit();
}

// Values that join a stripe get their order of bytes there.
bool FileWriter::fill(const std::shared_ptr<Piece>& piece, std::span<const std::byte> value) {
  if (piece->elements_left == 0) {
    end(piece, 0);
    return false;
  }
  const bool is_joined = piece->is_joined() && stripes_ != nullptr;
  const auto element = static_cast<std::size_t>(piece->element_bytes());
  std::int64_t first = piece->first;
  const std::int64_t last = first + piece->elements_left;
  const auto most = std::clamp(static_cast<std::int64_t>(most_fill_bytes / element),
                               std::int64_t{1}, piece->elements_left);
  const auto values = repeated(value, element, static_cast<std::size_t>(most));
  auto swapped = values;
  if (swaps_bytes_) {
    array::swap_bytes(swapped, array::number_bytes(piece->variable.type));
  }
  piece->is_in_file_order = true;
  piece->is_rounded = true;
  const auto held = std::make_shared<const std::vector<std::byte>>(std::move(swapped));
  bool any = false;
  while (first < last) {
    Chunk chunk;
    chunk.piece = piece;
    chunk.first = first;
    chunk.count = std::min(most, last - first);
    if (is_joined) {
      chunk.count = std::min(chunk.count, elements_in_stripe(*piece, first));
      chunk.bytes = std::span{values}.first(static_cast<std::size_t>(chunk.count) * element);
    }
    first += chunk.count;
    any = (is_joined && join(chunk)) || any;
    if (chunk.count > 0 && piece->is_blank) {
      end(std::move(chunk));
    } else if (chunk.count > 0) {
      chunk.loan = held;
      chunk.bytes = std::span{*held}.first(static_cast<std::size_t>(chunk.count) * element);
      write_alone(std::move(chunk));
      any = true;
    }
  }
  submit();
  return any;
}

void FileWriter::sync(SyncQueue::Done done) {
  if (!file_.opened()) {
    done({});
    return;
  }
  syncs_->ask(file_.opened(), std::move(done));
}

}  // namespace iocomp::writing
