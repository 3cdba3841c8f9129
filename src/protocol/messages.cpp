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

void fields(auto& io, Is<Outcome> auto& outcome) { io(outcome); }

void fields(auto& io, Is<contents::Beginning> auto& beginning) {
  io(beginning.number, beginning.folder, beginning.is_there, beginning.steps, beginning.bytes,
     beginning.has_old_bytes);
  io.each(beginning.variables, [](auto& in, auto& name) { in(name); });
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
}

namespace {

constexpr std::size_t bytes_of_cover = sizeof(std::int32_t) + sizeof(array::Cover);

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

void fields(auto& io, Is<StepCounts> auto& counts) {
  io(counts.step, counts.events, counts.members);
  io.each(counts.pieces, [](auto& in, auto& sent) { in(sent.first, sent.second); });
  put_covers(io, counts.variables);
  io.each(counts.sums, [](auto& in, auto& sum) { in(sum.variable, sum.block); });
  io(counts.unclaimed);
  io.each(counts.predecessors, [](auto& in, auto& before) {
    in(before.file, before.name, before.steps, before.failure);
  });
}

void fields(auto& io, Is<Other> auto& other) {
  io(other.file, other.standing.settled, other.standing.failed_from, other.standing.failure);
}

void fields(auto& io, Is<StepNote> auto& note) {
  io(note.step, note.variable, note.number, note.outcome, note.events);
}

void fields(auto& io, Is<ActionNote> auto& note) {
  io(note.action, note.number, note.step, note.settled, note.outcome, note.writers);
}

void fields(auto& io, Is<std::vector<Notice>> auto& notices) {
  io.each(notices, [](auto& in, auto& notice) {
    in(notice.about, notice.file, notice.number, notice.outcome);
  });
}

void fields(auto& io, Is<std::vector<double>> auto& numbers) { io(numbers); }

namespace {

// Others rely on these: they read and write memory by them.
void check(const Piece& piece) {
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
void check(const StepCounts& counts) {
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

}  // namespace

Bytes encode(std::uint64_t file, Kind kind, const Open& open) {
  return encode_fields(file, kind, open);
}

Open decode_open(std::span<const std::byte> body) { return decode_fields<Open>(body); }

Bytes encode(std::uint64_t file, Kind kind, const Event& event) {
  return encode_fields(file, kind, event, event.what.size());
}

Event decode_event(std::span<const std::byte> body) { return decode_fields<Event>(body); }

Bytes encode(std::uint64_t file, const Piece& piece) {
  return encode_fields(file, Kind::piece, piece, piece.inside.size());
}

Piece decode_piece(std::span<const std::byte> body) {
  const auto piece = decode_fields<Piece>(body);
  check(piece);
  return piece;
}

Bytes encode(std::uint64_t file, Kind kind, const StepCounts& counts) {
  return encode_fields(file, kind, counts, counts.variables.size() * bytes_of_cover);
}

StepCounts decode_step_counts(std::span<const std::byte> body) {
  auto counts = decode_fields<StepCounts>(body);
  check(counts);
  return counts;
}

Bytes encode(std::uint64_t file, Kind kind, const Other& other) {
  return encode_fields(file, kind, other);
}

Other decode_other(std::span<const std::byte> body) { return decode_fields<Other>(body); }

Bytes encode(std::uint64_t file, Kind kind, const StepNote& note) {
  return encode_fields(file, kind, note, note.outcome.story.size());
}

StepNote decode_step_note(std::span<const std::byte> body) { return decode_fields<StepNote>(body); }

Bytes encode(std::uint64_t file, Kind kind, const ActionNote& note) {
  return encode_fields(file, kind, note);
}

ActionNote decode_action(std::span<const std::byte> body) {
  return decode_fields<ActionNote>(body);
}

Bytes encode(std::uint64_t file, Kind kind, const Outcome& outcome) {
  return encode_fields(file, kind, outcome);
}

Outcome decode_outcome(std::span<const std::byte> body) { return decode_fields<Outcome>(body); }

Bytes encode(std::uint64_t file, const Opened& opened) {
  return encode_fields(file, Kind::opened, opened);
}

Opened decode_opened(std::span<const std::byte> body) { return decode_fields<Opened>(body); }

Bytes encode(const std::vector<Notice>& notices) {
  return encode_fields(0, Kind::notices, notices, notices.size() * sizeof(Notice));
}

std::vector<Notice> decode_notices(std::span<const std::byte> body) {
  return decode_fields<std::vector<Notice>>(body);
}

Bytes encode(Kind kind, const std::vector<double>& counters) {
  return encode_fields(0, kind, counters);
}

std::vector<double> decode_counters(std::span<const std::byte> body) {
  return decode_fields<std::vector<double>>(body);
}

Bytes encode(std::uint64_t file, Kind kind) { return message(kind, file, {}); }

}  // namespace iocomp::protocol
