#include "client/direct_output.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "client/block_writer.h"
#include "client/carrier.h"
#include "client/exchange.h"
#include "client/link.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "disk/engine.h"
#include "formats/format.h"
#include "formats/lustre_layout.h"
#include "formats/place.h"
#include "mpi/agree.h"
#include "trace/counters.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::client {
namespace {

constexpr std::size_t part_bytes = std::size_t{8}
                                   << 20;  // of strided blocks packed, and of MPI writes, at once

// The same writes by the same code as an engine's, but waited for.
void carry_out_now(const disk::Plan& plan,
                   const std::function<void(const disk::Completion&)>& done) {
  done(disk::carry_out(plan));
}

// All that the writer was given is written when this returns.
void finish_writes(writing::FileWriter& writer) {
  writer.submit();
  while (writer.has_work()) {
    writer.advance();
  }
}

void check_written(const writing::Piece& piece) {
  if (!piece.failure.ok()) {
    throw Error{piece.failure.code, piece.failure.story};
  }
  if (piece.elements_left != 0) {
    throw Error{ErrorCode::internal, "a block was given to a file that is closed"};
  }
}

// Whoever writes for others tells of what.
Outcome in_variable(const contents::Variable& variable, const Outcome& outcome) {
  return outcome.ok()
             ? outcome
             : Outcome{outcome.code, "variable \"" + variable.name + "\": " + outcome.story};
}

}  // namespace

DirectOutput::DirectOutput(Setup setup, commit::Publication& publication,
                           const contents::Catalogue& catalogue, Link& link)
    : setup_{std::move(setup)},
      publication_{publication},
      catalogue_{catalogue},
      link_{link},
      files_{{setup_.format, setup_.options, setup_.disk, carry_out_now},
             publication,
             catalogue,
             link.counters()} {
  if (setup_.window_bytes > 0 && (is_plain() || setup_.format->offsets_by_layout())) {
    exchange_ = std::make_unique<Exchange>(Exchange::Setup{.comm = setup_.comm,
                                                           .aggregators = setup_.aggregators,
                                                           .window_bytes = setup_.window_bytes,
                                                           .alignment_bytes = setup_.domain_bytes,
                                                           .may_overlap = setup_.may_overlap,
                                                           .policy = link.policy()});
  }
}

bool DirectOutput::writes_at_once(const Block& block) const {
  if (!is_plain() && publication_.target_of(0) != -1) {
    return false;
  }
  return setup_.format->offsets_by_layout() || is_ahead(block.step, block.variable.id);
}

void DirectOutput::agree(const Outcome& mine, const char* what) {
  const Outcome common = mpi::agree(setup_.comm, mine, link_.policy(), what);
  if (!common.ok()) {
    throw Error{common.code, common.story};
  }
}

void DirectOutput::create(std::int64_t target) {
  const auto path = publication_.names(target).temporary;
  auto& file = files_.at(target);
  agree(outcome_of([&] {
          if (setup_.rank == 0 && setup_.format->folder_mark().empty()) {
            formats::lay_out(path);
          }
          if (has_target() && is_plain()) {
            file.created(setup_.format->create(path, setup_.options, MPI_COMM_SELF));
          }
        }),
        "the start of a file");
  // All have met just now, so a collective open does not wait for anybody who computes.
  agree(outcome_of([&] {
          if (!is_plain()) {
            file.created(setup_.format->create(path, setup_.options, setup_.openers));
          }
          if (!writes_whole_steps()) {
            (void)file.open();
          }
        }),
        "the opening of a file");
}

bool DirectOutput::places_ahead(std::int64_t step) const {
  return is_plain() && !setup_.format->offsets_by_layout() && publication_.target_of(step) == -1;
}

// Not any more once the variable has another shape.
bool DirectOutput::is_ahead(std::int64_t step, int variable) const {
  const auto known = ahead_.places.find(variable);
  return step == ahead_.step && known != ahead_.places.end() &&
         known->second.first == catalogue_.variable(variable, step).shape;
}

std::int64_t DirectOutput::place_of(std::int64_t step, int variable) {
  if (setup_.format->offsets_by_layout()) {
    return catalogue_.layout().offset(variable, step);
  }
  if (is_ahead(step, variable)) {
    return ahead_.places.at(variable).second;
  }
  auto* const target = files_.at(publication_.target_of(step)).format();
  return target != nullptr && !writes_whole_steps()
             ? formats::place(*target, catalogue_, variable, step)
             : -1;
}

void DirectOutput::place(std::int64_t step, const std::vector<int>& variables) {
  const std::size_t count = variables.size();
  const bool goes_on = places_ahead(step);
  std::vector<std::int64_t> placed(goes_on ? 2 * count : count, -1);
  agree(outcome_of([&] {
          for (std::size_t i = 0; i < count; ++i) {
            placed[i] = place_of(step, variables[i]);
          }
        }),
        "room for the variables of a step");
  for (std::size_t i = count; i < placed.size(); ++i) {
    // What has no place ahead gets one when it is put, or its error is told.
    (void)outcome_of([&] { placed[i] = place_of(step + 1, variables[i - count]); });
  }
  if (is_plain() && !setup_.format->offsets_by_layout() && !placed.empty()) {
    mpi::maximum(setup_.comm, placed, link_.policy(), "the offsets of a step");
  }
  ahead_ = {goes_on ? step + 1 : -1, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const int variable = variables[i];
    files_.note_offset(variable, step, placed[i]);
    files_.note_contents(variable, step);
    if (goes_on && placed[count + i] >= 0) {
      files_.note_offset(variable, step + 1, placed[count + i]);
      ahead_.places.emplace(
          variable, std::pair{catalogue_.variable(variable, step + 1).shape, placed[count + i]});
    }
  }
}

// Copies are made of what does not lie in the order of the file, at most 8 MiB at once; of whole
// steps all, because the library reads them later.
void DirectOutput::write(const Block& block) {
  const trace::Timer timer{link_.counters(), trace::Counter::write_seconds};
  writing::FileWriter& writer = files_.writer(publication_.target_of(block.step));
  const auto piece = piece_of(block, files_.offset(block.variable.id, block.step), {});
  piece->is_in_file_order = true;
  const std::int64_t elements = piece->elements_left;
  const bool copies = writer.swaps_bytes() || !block.is_dense();
  const auto element = static_cast<std::int64_t>(block.element_bytes());
  const std::int64_t part =
      copies && !writes_whole_steps() ? static_cast<std::int64_t>(part_bytes) / element : elements;
  for (std::int64_t first = 0; first < elements; first += part) {
    writing::Chunk chunk;
    chunk.piece = piece;
    chunk.first = first;
    chunk.count = std::min(part, elements - first);
    const auto bytes = static_cast<std::size_t>(chunk.count * element);
    if (copies) {
      const auto packed = std::make_shared<std::vector<std::byte>>(bytes);
      block.copy_to(*packed, first, chunk.count, writer.swaps_bytes());
      chunk.bytes = *packed;
      chunk.loan = packed;
    } else {
      chunk.bytes = {block.first_value(), bytes};
    }
    writer.write(std::move(chunk));
    finish_writes(writer);
  }
  check_written(*piece);
}

void DirectOutput::fill(std::int64_t step, int variable, const array::RunList& holes) {
  const trace::Timer timer{link_.counters(), trace::Counter::write_seconds};
  writing::FileWriter& writer = files_.writer(publication_.target_of(step));
  Block block;
  block.variable = catalogue_.variable(variable, step);
  block.step = step;
  block.region = std::make_shared<const array::RunList>(holes);
  const auto piece = piece_of(block, files_.offset(variable, step), {});
  writer.fill(piece, catalogue_.fill(variable, step));
  finish_writes(writer);
  check_written(*piece);
}

// Part of a variable in the order of the file.
void DirectOutput::write_elements(std::int64_t step, const contents::Variable& variable,
                                  std::int64_t index, std::span<const std::byte> bytes) {
  const trace::Timer timer{link_.counters(), trace::Counter::write_seconds};
  writing::FileWriter& writer = files_.writer(publication_.target_of(step));
  Block block;
  block.variable = variable;
  block.step = step;
  block.region = array::whole(variable.shape);
  writing::Chunk chunk;
  chunk.piece = piece_of(block, files_.offset(variable.id, step), {});
  chunk.piece->is_in_file_order = true;
  chunk.first = chunk.piece->first = index;
  chunk.count = chunk.piece->elements_left =
      std::ssize(bytes) / static_cast<std::int64_t>(block.element_bytes());
  chunk.bytes = bytes;
  const auto piece = chunk.piece;
  writer.write(std::move(chunk));
  finish_writes(writer);
  check_written(*piece);
}

bool DirectOutput::exchanges(const Block& block) const noexcept {
  return exchange_ && exchange_->takes(block);
}

Outcome DirectOutput::exchange(std::int64_t step, const std::vector<const Block*>& blocks) {
  const Exchange::Target target{
      .offset =
          [&](const contents::Variable& variable) { return files_.offset(variable.id, step); },
      .write =
          [&](const contents::Variable& variable, std::int64_t index,
              std::span<const std::byte> bytes) {
            const Outcome outcome = in_variable(
                variable, outcome_of([&] { write_elements(step, variable, index, bytes); }));
            if (!outcome.ok()) {
              throw Error{outcome.code, outcome.story};
            }
          },
      .swaps_bytes = formats::swaps_bytes(*setup_.format, setup_.options)};
  return exchange_->carry_out(
      blocks, [&](int id) { return catalogue_.variable(id, step); }, target);
}

void DirectOutput::sync(std::int64_t target) {
  const trace::Timer timer{link_.counters(), trace::Counter::sync_seconds};
  Outcome synced;
  files_.writer(target).sync([&synced](const Outcome& outcome) { synced = outcome; });
  if (!synced.ok()) {
    throw Error{synced.code, synced.story};
  }
}

void DirectOutput::write_step(std::int64_t step) {
  const std::int64_t target = publication_.target_of(step);
  const Outcome mine = outcome_of([&] {
    const trace::Timer timer{link_.counters(), trace::Counter::write_seconds};
    files_.writer(target).whole_steps()->write_step(target < 0 ? step : 0,
                                                    contents().describe(catalogue_, step, step));
  });
  agree(mine, "the writing of a step");
}

void DirectOutput::forget_step(std::int64_t step) {
  if (auto* const steps = files_.writer(publication_.target_of(step)).whole_steps()) {
    steps->forget(step);
  }
}

void DirectOutput::flush(std::int64_t target) {
  agree(outcome_of([&] {
          if (auto* const open = files_.at(target).format()) {
            open->flush();
          }
        }),
        "the flush of a file");
}

void DirectOutput::finish(std::int64_t target, std::int64_t first_step, std::int64_t last_step) {
  agree(outcome_of([&] {
          if (const auto closing = files_.at(target).take_format()) {
            closing->finish(contents().describe(catalogue_, first_step, last_step));
          }
        }),
        "the end of a file");
}

void DirectOutput::seal(std::int64_t target, std::int64_t step,
                        const std::function<commit::Publication::Job()>& job) {
  agree(outcome_of([&] {
          if (setup_.rank == 0) {
            const trace::Timer timer{link_.counters(), trace::Counter::commit_seconds};
            files_.seal(target, step, job());
          }
        }),
        "the commit of a step");
}

}  // namespace iocomp::client
