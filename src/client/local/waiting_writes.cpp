// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/waiting_writes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/exchange/exchange.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "contents/variable.h"
#include "disk/options.h"
#include "trace/counters.h"
#include "writer/output_files.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::client {
namespace {

constexpr std::size_t copied_at_once = std::size_t{8} << 20;  // copied at once

// A rank that writes for others names the variable in its failures.
Outcome in_variable(const contents::Variable& variable, const Outcome& outcome) {
  return outcome.ok()
             ? outcome
             : Outcome{outcome.code, "variable \"" + variable.name + "\": " + outcome.story};
}

}  // namespace

WaitingWrites::WaitingWrites(writer::OutputFiles& files, const disk::Options& disk,
                             const contents::Catalogue& catalogue, Link& link,
                             std::unique_ptr<Exchange> exchange, bool keeps)
    : files_{files},
      blocks_{disk, link},
      catalogue_{catalogue},
      counters_{link.counters()},
      exchange_{std::move(exchange)},
      keeps_{keeps} {}

void WaitingWrites::finish(writing::FileWriter& writer) {
  writer.submit();
  while (writer.has_work()) {
    writer.advance();
  }
}

void WaitingWrites::write(const KeptBlocks::Kept& kept) {
  const trace::Timer timer{counters_, trace::Counter::write_seconds};
  writing::FileWriter& writer = files_.writer_of(kept.block.step);
  if (files_.is_plain()) {
    // The block is written as while the program goes on, but nothing has to be kept for it.
    Block now = kept.block;
    now.buffered = false;
    (void)blocks_.write(now, kept.piece, writer, false);
    finish(writer);
  } else {
    write_whole(kept, writer);
  }
  if (kept.piece->elements_left != 0) {
    throw Error{ErrorCode::internal, "a block was given to a file that is closed"};
  }
}

// A block that is not in the order of the file, or is rounded, is copied, one part at a time. If
// the library reads it later, all of it is copied.
void WaitingWrites::write_whole(const KeptBlocks::Kept& kept, writing::FileWriter& writer) {
  const Block& block = kept.block;
  const std::int64_t elements = kept.piece->elements_left;
  const std::int64_t part = BlockWriter::copies_packed(block, writer) && !keeps_
                                ? static_cast<std::int64_t>(copied_at_once / block.element_bytes())
                                : elements;
  for (std::int64_t first = 0; first < elements; first += part) {
    (void)BlockWriter::write_packed(block, kept.piece, writer, first,
                                    std::min(part, elements - first));
    finish(writer);
  }
}

// Writes a part of a variable that is in the order of the file.
void WaitingWrites::write_elements(std::int64_t step, const contents::Variable& variable,
                                   std::int64_t index, std::span<std::byte> bytes) {
  const trace::Timer timer{counters_, trace::Counter::write_seconds};
  writing::FileWriter& writer = files_.writer_of(step);
  const auto piece = std::make_shared<writing::Piece>();
  piece->step = step;
  piece->variable = variable;
  piece->region = array::whole(variable.shape);
  piece->offset = files_.offset(variable.id, step);
  piece->is_in_file_order = true;
  piece->first = index;
  piece->elements_left = std::ssize(bytes) / piece->element_bytes();
  writing::Chunk chunk;
  chunk.piece = piece;
  chunk.first = index;
  chunk.count = piece->elements_left;
  chunk.bytes = chunk.own_bytes = bytes;
  writer.write(std::move(chunk));
  finish(writer);
  piece->failure.throw_unless_ok();
  if (piece->elements_left != 0) {
    throw Error{ErrorCode::internal, "values were given to a file that is closed"};
  }
}

bool WaitingWrites::exchanges(const Block& block) const noexcept {
  return exchange_ && exchange_->takes(block);
}

Outcome WaitingWrites::exchange(std::int64_t step, const std::vector<const Block*>& blocks) {
  const Exchange::Target target{
      .offset =
          [&](const contents::Variable& variable) { return files_.offset(variable.id, step); },
      .write =
          [&](const contents::Variable& variable, std::int64_t index, std::span<std::byte> bytes) {
            const Outcome outcome = in_variable(
                variable, outcome_of([&] { write_elements(step, variable, index, bytes); }));
            outcome.throw_unless_ok();
          },
      .swaps_bytes = files_.writer_of(step).swaps_bytes()};
  return exchange_->carry_out(
      blocks, [&](int id) { return catalogue_.variable(id, step); }, target);
}

}  // namespace iocomp::client
