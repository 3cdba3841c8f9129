// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/messages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "base/error.h"
#include "protocol/fields.h"
#include "protocol/header.h"
#include "steps/covers.h"
#include "steps/ended.h"

namespace iocomp::protocol {
namespace {

// Others rely on these: they read and write memory by them.
void check(const FieldReader& /*io*/, const Piece& piece) {
  array::check(piece.box);
  const bool is_part =
      piece.first >= 0 && piece.count >= 0 && piece.chunk_elements >= 0 && piece.element_bytes > 0;
  const bool is_in_box = !is_part || piece.runs != 0 ||
                         (piece.first <= array::elements(piece.box) &&
                          piece.count <= array::elements(piece.box) - piece.first);
  const auto inside = static_cast<std::int64_t>(piece.inside.size());
  const bool is_whole =
      !is_part || piece.chunk_elements != 0 ||
      (inside % piece.element_bytes == 0 && inside / piece.element_bytes == piece.count);
  if (!is_part || !is_in_box || !is_whole) {
    throw Error{ErrorCode::internal, "a message has " + std::to_string(piece.count) +
                                         " elements from " + std::to_string(piece.first) +
                                         " on of the block " + array::text(piece.box) + ", and " +
                                         std::to_string(inside) + " bytes of them"};
  }
}

// They are numbers of things, and are summed.
void check(const FieldReader& /*io*/, const StepCounts& counts) {
  constexpr std::int64_t many = std::numeric_limits<std::int64_t>::max() / 2;
  const auto is_number = [](std::int64_t value) { return value >= 0 && value < many; };
  if (!is_number(counts.step) || !is_number(counts.events) || !is_number(counts.members) ||
      !std::ranges::all_of(
          counts.pieces,
          [&](const auto& sent) { return sent.first >= 0 && is_number(sent.second); }) ||
      !std::ranges::all_of(counts.predecessors, is_number, &steps::Predecessor::steps)) {
    throw Error{ErrorCode::internal, "a message has impossible numbers of the end of step " +
                                         std::to_string(counts.step)};
  }
}

void put_covers(FieldWriter& io, const steps::Covers& covers) {
  io.each(covers, [](auto& in, const auto& put) { in(put.first, put.second); });
}

void put_covers(FieldReader& io, steps::Covers& covers) {
  std::vector<steps::Covers::Item> puts;
  io.each(puts, [](auto& in, auto& put) { in(put.first, put.second); });
  covers.reserve(puts.size());
  std::int32_t last = -1;
  for (const auto& [variable, cover] : puts) {
    if (variable <= std::exchange(last, variable)) {
      throw Error{ErrorCode::internal, "the variables of a step do not ascend"};
    }
    covers.add(variable, cover);
  }
}

}  // namespace

void fields(auto& io, Is<Outcome> auto& outcome) { io(outcome); }

void fields(auto& io, Is<contents::Beginning> auto& beginning) {
  io(beginning.number, beginning.folder, beginning.is_there, beginning.steps, beginning.bytes,
     beginning.has_old_bytes);
  io.each(beginning.variables, [](auto& in, auto& name) { in(name); });
  io.each(beginning.meaning, [](auto& in, auto& of_variable) {
    in(of_variable.first);
    in.each(of_variable.second, [](auto& of, auto& item) { of(item.first, item.second); });
  });
  io.each(beginning.numbers, [](auto& in, auto& item) { in(item.first, item.second); });
  io.each(beginning.attributes, [](auto& in, auto& item) {
    in(item.first, item.second.type, item.second.is_text, item.second.bytes);
  });
  io(beginning.header_bytes, beginning.header_room);
}

void fields(auto& io, Is<Open> auto& open) {
  io(open.name, open.options, open.kind, open.opener, open.members, open.home_members,
     open.domain_bytes, open.after);
  fields(io, open.beginning);
}

void fields(auto& io, Is<Opened> auto& opened) {
  io(opened.outcome, opened.domain_bytes);
  fields(io, opened.beginning);
}

void fields(auto& io, Is<Event> auto& event) { io(event.sequence, event.caller, event.what); }

void fields(auto& io, Is<Piece> auto& piece) {
  io(piece.step, piece.variable, piece.events, piece.ticket, piece.sender, piece.box, piece.runs,
     piece.first, piece.count, piece.chunk_elements, piece.element_bytes, piece.inside);
  check(io, piece);
}

void fields(auto& io, Is<StepCounts> auto& counts) {
  io(counts.step, counts.events, counts.members);
  io.each(counts.pieces, [](auto& in, auto& sent) { in(sent.first, sent.second); });
  put_covers(io, counts.variables);
  io.each(counts.sums, [](auto& in, auto& sum) { in(sum.variable, sum.block); });
  io(counts.unclaimed, counts.unfinished);
  io.each(counts.predecessors, [](auto& in, auto& before) {
    in(before.file, before.name, before.steps, before.failure);
  });
  check(io, counts);
}

void fields(auto& io, Is<Other> auto& other) {
  io(other.file, other.standing.settled, other.standing.failed_from, other.standing.failure);
}

void fields(auto& io, Is<StepNote> auto& note) {
  io(note.step, note.variable, note.number, note.outcome, note.events);
}

void fields(auto& io, Is<ActionNote> auto& note) {
  io(note.action, note.number, note.step, note.named, note.settled, note.outcome, note.writers);
}

void fields(auto& io, Is<std::vector<Notice>> auto& notices) {
  io.each(notices, [](auto& in, auto& notice) {
    in(notice.about, notice.file, notice.number, notice.outcome);
  });
}

void fields(auto& io, Is<Counters> auto& numbers) { io(numbers); }

template Bytes encode(std::uint64_t, Kind, const Open&);
template Open decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const Event&);
template Event decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const Piece&);
template Piece decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const StepCounts&);
template StepCounts decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const StepNote&);
template StepNote decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const Other&);
template Other decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const ActionNote&);
template ActionNote decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const Opened&);
template Opened decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const Outcome&);
template Outcome decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const std::vector<Notice>&);
template std::vector<Notice> decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const Counters&);
template Counters decode(std::span<const std::byte>);

}  // namespace iocomp::protocol
