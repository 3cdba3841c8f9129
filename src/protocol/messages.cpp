// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/messages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "base/error.h"
#include "base/folder_wire.h"
#include "base/wire.h"
#include "contents/variable_wire.h"
#include "protocol/header.h"
#include "steps/ended.h"

namespace iocomp::protocol {
namespace {

void put(WireWriter& writer, const Outcome& outcome) {
  writer.put(outcome.code);
  writer.put_text(outcome.story);
}

constexpr std::size_t least_bytes_of_notice =
    sizeof(Notice::about) + 3 * sizeof(std::uint64_t) + sizeof(ErrorCode);

Outcome get_outcome(WireReader& reader) {
  Outcome outcome;
  outcome.code = reader.get<ErrorCode>();
  outcome.story = reader.get_text();
  return outcome;
}

// Begins a message of which there are many: it is written at once where it will lie, header in
// front.
WireWriter begin_message(std::size_t body_bytes) {
  WireWriter writer;
  writer.reserve(sizeof(Header) + body_bytes);
  writer.put(Header{});
  return writer;
}

Bytes end_message(WireWriter& writer, Kind kind, std::uint64_t file) {
  Bytes bytes = writer.take();
  const Header header{magic, version, kind, bytes.size() - sizeof(Header), file};
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

template <typename T>
void put_list(WireWriter& writer, const std::vector<T>& values) {
  writer.put_bytes(std::as_bytes(std::span{values}));
}

template <typename T>
std::vector<T> get_list(WireReader& reader) {
  const auto bytes = reader.get_bytes();
  if (bytes.size() % sizeof(T) != 0) {
    throw Error{ErrorCode::internal, "a message ends within a number"};
  }
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
  return values;
}

}  // namespace

namespace {

void put(WireWriter& writer, const contents::Beginning& beginning) {
  writer.put(beginning.number);
  iocomp::put(writer, beginning.folder);
  writer.put(static_cast<std::uint8_t>(beginning.is_there ? 1 : 0));
  writer.put(beginning.steps);
  writer.put(beginning.bytes);
  writer.put(static_cast<std::uint8_t>(beginning.has_old_bytes ? 1 : 0));
  writer.put(static_cast<std::uint64_t>(beginning.variables.size()));
  for (const auto& name : beginning.variables) {
    writer.put_text(name);
  }
  writer.put(static_cast<std::uint64_t>(beginning.numbers.size()));
  for (const auto& [step, number] : beginning.numbers) {
    writer.put(step);
    writer.put(number);
  }
  writer.put(static_cast<std::uint64_t>(beginning.attributes.size()));
  for (const auto& [name, attribute] : beginning.attributes) {
    writer.put_text(name);
    writer.put(attribute.type);
    writer.put(static_cast<std::uint8_t>(attribute.is_text ? 1 : 0));
    writer.put(attribute.bytes);
  }
  writer.put(beginning.header_bytes);
  writer.put(beginning.header_room);
}

contents::Beginning get_beginning(WireReader& reader) {
  contents::Beginning beginning;
  beginning.number = reader.get<std::int64_t>();
  beginning.folder = get_folder_address(reader);
  beginning.is_there = reader.get<std::uint8_t>() != 0;
  beginning.steps = reader.get<std::int64_t>();
  beginning.bytes = reader.get<std::int64_t>();
  beginning.has_old_bytes = reader.get<std::uint8_t>() != 0;
  for (auto left = reader.get<std::uint64_t>(); left > 0; --left) {
    beginning.variables.insert(reader.get_text());
  }
  for (auto left = reader.get<std::uint64_t>(); left > 0; --left) {
    const auto step = reader.get<std::int64_t>();
    beginning.numbers.emplace(step, reader.get<std::int64_t>());
  }
  for (auto left = reader.get<std::uint64_t>(); left > 0; --left) {
    auto& attribute = beginning.attributes[reader.get_text()];
    attribute.type = contents::get_type(reader);
    attribute.is_text = reader.get<std::uint8_t>() != 0;
    attribute.bytes = reader.get<std::int64_t>();
  }
  beginning.header_bytes = reader.get<std::int64_t>();
  beginning.header_room = reader.get<std::int64_t>();
  return beginning;
}

}  // namespace

Bytes encode(std::uint64_t file, Kind kind, const Open& open) {
  WireWriter writer;
  writer.put_text(open.name);
  writer.put_text(open.options);
  writer.put(open.kind);
  writer.put(open.opener);
  writer.put(open.members);
  writer.put(open.home_members);
  writer.put(open.domain_bytes);
  writer.put(open.after);
  put(writer, open.beginning);
  return message(kind, file, writer.take());
}

Open decode_open(std::span<const std::byte> body) {
  WireReader reader{body};
  Open open;
  open.name = reader.get_text();
  open.options = reader.get_text();
  open.kind = reader.get<std::uint8_t>();
  open.opener = reader.get<std::int32_t>();
  open.members = reader.get<std::int64_t>();
  open.home_members = reader.get<std::int64_t>();
  open.domain_bytes = reader.get<std::int64_t>();
  open.after = reader.get<std::int64_t>();
  open.beginning = get_beginning(reader);
  return open;
}

Bytes encode(std::uint64_t file, Kind kind, const Event& event) {
  WireWriter writer;
  writer.put(event.sequence);
  writer.put(event.caller);
  writer.put_bytes(event.what);
  return message(kind, file, writer.take());
}

Event decode_event(std::span<const std::byte> body) {
  WireReader reader{body};
  Event event;
  event.sequence = reader.get<std::int64_t>();
  event.caller = reader.get<std::int32_t>();
  const auto what = reader.get_bytes();
  event.what.assign(what.begin(), what.end());
  return event;
}

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

}  // namespace

Bytes encode(std::uint64_t file, const Piece& piece) {
  WireWriter writer = begin_message(sizeof piece + piece.inside.size());
  writer.put(piece.step);
  writer.put(piece.variable);
  writer.put(piece.events);
  writer.put(piece.ticket);
  writer.put(piece.sender);
  writer.put(piece.box);
  writer.put(piece.runs);
  writer.put(piece.first);
  writer.put(piece.count);
  writer.put(piece.chunk_elements);
  writer.put(piece.element_bytes);
  writer.put_bytes(piece.inside);
  return end_message(writer, Kind::piece, file);
}

Piece decode_piece(std::span<const std::byte> body) {
  WireReader reader{body};
  Piece piece;
  piece.step = reader.get<std::int64_t>();
  piece.variable = reader.get<std::int32_t>();
  piece.events = reader.get<std::int64_t>();
  piece.ticket = reader.get<std::uint64_t>();
  piece.sender = reader.get<std::int32_t>();
  piece.box = reader.get<array::Box>();
  piece.runs = reader.get<std::uint64_t>();
  piece.first = reader.get<std::int64_t>();
  piece.count = reader.get<std::int64_t>();
  piece.chunk_elements = reader.get<std::int64_t>();
  piece.element_bytes = reader.get<std::int32_t>();
  piece.inside = reader.get_bytes();
  check(piece);
  return piece;
}

namespace {

// They are numbers of things, and are summed.
constexpr std::size_t bytes_of_cover = sizeof(std::int32_t) + sizeof(array::Cover);

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

void put_sums(WireWriter& writer, const std::vector<steps::PutSum>& sums) {
  writer.put(static_cast<std::uint64_t>(sums.size()));
  for (const auto& [variable, block] : sums) {
    writer.put(variable);
    contents::put(writer, block);
  }
}

std::vector<steps::PutSum> get_sums(WireReader& reader) {
  std::vector<steps::PutSum> sums(
      reader.get_count(sizeof(std::int32_t) + contents::least_bytes_of_sum));
  for (auto& sum : sums) {
    sum.variable = reader.get<std::int32_t>();
    sum.block = contents::get_block_sum(reader);
  }
  return sums;
}

}  // namespace

Bytes encode(std::uint64_t file, Kind kind, const StepCounts& counts) {
  WireWriter writer;
  writer.put(counts.step);
  writer.put(counts.events);
  writer.put(counts.members);
  writer.put(static_cast<std::uint64_t>(counts.pieces.size()));
  for (const auto& [server, pieces] : counts.pieces) {
    writer.put(server);
    writer.put(pieces);
  }
  writer.put(static_cast<std::uint64_t>(counts.variables.size()));
  writer.reserve(writer.bytes().size() + counts.variables.size() * bytes_of_cover);
  for (const auto& [variable, cover] : counts.variables) {
    writer.put(variable);
    writer.put(cover);
  }
  put_sums(writer, counts.sums);
  writer.put(counts.unclaimed);
  writer.put(static_cast<std::uint64_t>(counts.predecessors.size()));
  for (const auto& [file_before, name, steps, failure] : counts.predecessors) {
    writer.put(file_before);
    writer.put_text(name);
    writer.put(steps);
    put(writer, failure);
  }
  return message(kind, file, writer.take());
}

StepCounts decode_step_counts(std::span<const std::byte> body) {
  WireReader reader{body};
  StepCounts counts;
  counts.step = reader.get<std::int64_t>();
  counts.events = reader.get<std::int64_t>();
  counts.members = reader.get<std::int64_t>();
  const auto servers = reader.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < servers; ++i) {
    const auto server = reader.get<std::int32_t>();
    counts.pieces.emplace_back(server, reader.get<std::int64_t>());
  }
  const auto variables = reader.get_count(bytes_of_cover);
  counts.variables.reserve(variables);
  std::int32_t last = -1;
  for (std::size_t i = 0; i < variables; ++i) {
    const auto variable = reader.get<std::int32_t>();
    if (variable <= last) {
      throw Error{ErrorCode::internal, "the variables of a step do not ascend"};
    }
    last = variable;
    counts.variables.add(variable, reader.get<array::Cover>());
  }
  counts.sums = get_sums(reader);
  counts.unclaimed = reader.get<std::int64_t>();
  for (auto left = reader.get<std::uint64_t>(); left > 0; --left) {
    auto& before = counts.predecessors.emplace_back();
    before.file = reader.get<std::uint64_t>();
    before.name = reader.get_text();
    before.steps = reader.get<std::int64_t>();
    before.failure = get_outcome(reader);
  }
  check(counts);
  return counts;
}

Bytes encode(std::uint64_t file, Kind kind, const Other& other) {
  WireWriter writer;
  writer.put(other.file);
  writer.put(other.standing.settled);
  writer.put(other.standing.failed_from);
  put(writer, other.standing.failure);
  return message(kind, file, writer.take());
}

Other decode_other(std::span<const std::byte> body) {
  WireReader reader{body};
  Other other;
  other.file = reader.get<std::uint64_t>();
  other.standing.settled = reader.get<std::int64_t>();
  other.standing.failed_from = reader.get<std::int64_t>();
  other.standing.failure = get_outcome(reader);
  return other;
}

Bytes encode(std::uint64_t file, Kind kind, const StepNote& note) {
  WireWriter writer = begin_message(sizeof note + note.outcome.story.size());
  writer.put(note.step);
  writer.put(note.variable);
  writer.put(note.number);
  put(writer, note.outcome);
  writer.put(note.events);
  return end_message(writer, kind, file);
}

StepNote decode_step_note(std::span<const std::byte> body) {
  WireReader reader{body};
  StepNote note;
  note.step = reader.get<std::int64_t>();
  note.variable = reader.get<std::int32_t>();
  note.number = reader.get<std::int64_t>();
  note.outcome = get_outcome(reader);
  note.events = reader.get<std::int64_t>();
  return note;
}

Bytes encode(std::uint64_t file, Kind kind, const ActionNote& note) {
  WireWriter writer;
  writer.put(note.action);
  writer.put(note.number);
  writer.put(note.step);
  writer.put(note.settled);
  put(writer, note.outcome);
  writer.put(note.writers);
  return message(kind, file, writer.take());
}

ActionNote decode_action(std::span<const std::byte> body) {
  WireReader reader{body};
  ActionNote note;
  note.action = reader.get<Action>();
  note.number = reader.get<std::int64_t>();
  note.step = reader.get<std::int64_t>();
  note.settled = reader.get<std::int64_t>();
  note.outcome = get_outcome(reader);
  note.writers = reader.get<std::int32_t>();
  return note;
}

Bytes encode(std::uint64_t file, Kind kind, const Outcome& outcome) {
  WireWriter writer;
  put(writer, outcome);
  return message(kind, file, writer.take());
}

Outcome decode_outcome(std::span<const std::byte> body) {
  WireReader reader{body};
  return get_outcome(reader);
}

Bytes encode(std::uint64_t file, const Opened& opened) {
  WireWriter writer;
  put(writer, opened.outcome);
  writer.put(opened.domain_bytes);
  put(writer, opened.beginning);
  return message(Kind::opened, file, writer.take());
}

Opened decode_opened(std::span<const std::byte> body) {
  WireReader reader{body};
  Opened opened;
  opened.outcome = get_outcome(reader);
  opened.domain_bytes = reader.get<std::int64_t>();
  opened.beginning = get_beginning(reader);
  return opened;
}

Bytes encode(const std::vector<Notice>& notices) {
  WireWriter writer = begin_message((notices.size() + 1) * sizeof(Notice));
  writer.put(static_cast<std::uint64_t>(notices.size()));
  for (const auto& notice : notices) {
    writer.put(notice.about);
    writer.put(notice.file);
    writer.put(notice.number);
    put(writer, notice.outcome);
  }
  return end_message(writer, Kind::notices, 0);
}

std::vector<Notice> decode_notices(std::span<const std::byte> body) {
  WireReader reader{body};
  std::vector<Notice> notices(reader.get_count(least_bytes_of_notice));
  for (auto& notice : notices) {
    notice.about = reader.get<Notice::About>();
    notice.file = reader.get<std::uint64_t>();
    notice.number = reader.get<std::uint64_t>();
    notice.outcome = get_outcome(reader);
  }
  return notices;
}

Bytes encode(Kind kind, const std::vector<double>& counters) {
  WireWriter writer;
  put_list(writer, counters);
  return message(kind, 0, writer.take());
}

std::vector<double> decode_counters(std::span<const std::byte> body) {
  WireReader reader{body};
  return get_list<double>(reader);
}

Bytes encode(std::uint64_t file, Kind kind) { return message(kind, file, {}); }

}  // namespace iocomp::protocol
