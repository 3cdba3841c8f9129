// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/messages.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "base/error.h"
#include "base/wire.h"
#include "contents/variable.h"
#include "protocol/header.h"
#include "unit/protocol/truncated.h"

namespace iocomp::protocol {
namespace {

constexpr std::uint64_t file = 0xfedcba9876543210ULL;
// More than 32 bits can say.
constexpr std::int64_t large = std::int64_t{3} << 40;

const Outcome disk_full{ErrorCode::storage_failure, "no space left on the device"};

void expect_header(const Bytes& message, Kind kind, std::uint64_t key = file) {
  const Header header = check_header(message, 0);
  EXPECT_EQ(header.kind, kind);
  EXPECT_EQ(header.file, key);
}

void expect_equal(const Outcome& one, const Outcome& other) {
  EXPECT_EQ(one.code, other.code);
  EXPECT_EQ(one.story, other.story);
}

array::Box box() {
  array::Box box;
  box.dimensions = 2;
  box.start = {large, 1};
  box.count = {2, 3};
  return box;
}

TEST(Messages, OpenComesBack) {
  const Open open{.name = "fields.v2",
                  .kind = 2,
                  .opener = 3,
                  .members = large,
                  .home_members = 5,
                  .domain_bytes = 4096,
                  .beginning = {.number = 9,
                                .is_there = true,
                                .steps = 3,
                                .has_old_bytes = true,
                                .variables = {"u", "v"},
                                .meaning = {{"u", {{"units", contents::text_attribute("m")}}}}}};
  for (const Kind kind : {Kind::open, Kind::home_open, Kind::known_file}) {
    const Bytes message = encode(file, kind, open);
    expect_header(message, kind);
    const Open back = decode<Open>(body(message));
    EXPECT_EQ(back.name, open.name);
    EXPECT_EQ(back.kind, open.kind);
    EXPECT_EQ(back.opener, open.opener);
    EXPECT_EQ(back.members, open.members);
    EXPECT_EQ(back.home_members, open.home_members);
    EXPECT_EQ(back.domain_bytes, open.domain_bytes);
    EXPECT_EQ(back.beginning.number, open.beginning.number);
    EXPECT_EQ(back.beginning.steps, open.beginning.steps);
    EXPECT_EQ(back.beginning.has_old_bytes, open.beginning.has_old_bytes);
    EXPECT_EQ(back.beginning.variables, open.beginning.variables);
    EXPECT_EQ(back.beginning.meaning, open.beginning.meaning);
    expect_refusal_of_every_beginning(message, decode<Open>);
  }
}

TEST(Messages, EventComesBack) {
  const Event event{.sequence = large, .caller = 2, .what = {std::byte{9}, std::byte{8}}};
  const Bytes message = encode(file, Kind::home_event, event);
  expect_header(message, Kind::home_event);
  const Event back = decode<Event>(body(message));
  EXPECT_EQ(back.sequence, event.sequence);
  EXPECT_EQ(back.caller, event.caller);
  EXPECT_EQ(back.what, event.what);
  expect_refusal_of_every_beginning(message, decode<Event>);
}

Piece piece(std::span<const std::byte> inside) {
  Piece piece;
  piece.step = large;
  piece.variable = 4;
  piece.events = 6;
  piece.ticket = std::numeric_limits<std::uint64_t>::max();
  piece.sender = 11;
  piece.box = box();
  piece.runs = 12;
  piece.first = 1;
  piece.count = 5;
  piece.chunk_elements = inside.empty() ? 2 : 0;
  piece.element_bytes = 8;
  piece.inside = inside;
  return piece;
}

void expect_piece_comes_back(std::span<const std::byte> inside) {
  const Piece sent = piece(inside);
  const Bytes message = encode(file, Kind::piece, sent);
  expect_header(message, Kind::piece);
  const Piece back = decode<Piece>(body(message));
  EXPECT_EQ(back.step, sent.step);
  EXPECT_EQ(back.variable, sent.variable);
  EXPECT_EQ(back.events, sent.events);
  EXPECT_EQ(back.ticket, sent.ticket);
  EXPECT_EQ(back.sender, sent.sender);
  EXPECT_EQ(back.box, sent.box);
  EXPECT_EQ(back.runs, sent.runs);
  EXPECT_EQ(back.first, sent.first);
  EXPECT_EQ(back.count, sent.count);
  EXPECT_EQ(back.chunk_elements, sent.chunk_elements);
  EXPECT_EQ(back.element_bytes, sent.element_bytes);
  EXPECT_EQ(Bytes(back.inside.begin(), back.inside.end()), Bytes(inside.begin(), inside.end()));
  expect_refusal_of_every_beginning(message, decode<Piece>);
}

TEST(Messages, PieceComesBack) { expect_piece_comes_back({}); }

TEST(Messages, PieceComesBackWithTheBytesInside) {
  const Bytes inside(40, std::byte{0x5a});
  expect_piece_comes_back(inside);
}

TEST(Messages, BytesOfAPieceAreCountedIn64Bits) {
  EXPECT_EQ(piece({}).chunk_bytes(large), static_cast<std::size_t>(8 * large));
}

StepCounts counts() {
  StepCounts counts;
  counts.step = 7;
  counts.events = 3;
  counts.members = 2;
  counts.pieces = {{0, 5}, {3, large}};
  counts.variables = {{1, {.elements = 10, .print = 99}}, {4, {.elements = 1, .print = 2}}};
  counts.predecessors = {{large, "fields", 12}, {3, "probes", 0, {ErrorCode::unsupported, "why"}}};
  counts.sums = {{1, {box(), std::numeric_limits<std::uint64_t>::max()}}, {4, {{}, 3}}};
  return counts;
}

TEST(Messages, StepCountsComeBack) {
  for (const Kind kind : {Kind::end_step, Kind::close, Kind::home_step, Kind::home_close}) {
    const Bytes message = encode(file, kind, counts());
    expect_header(message, kind);
    const StepCounts back = decode<StepCounts>(body(message));
    EXPECT_EQ(back.step, 7);
    EXPECT_EQ(back.events, 3);
    EXPECT_EQ(back.members, 2);
    EXPECT_EQ(back.pieces, counts().pieces);
    EXPECT_EQ(back.variables, counts().variables);
    EXPECT_EQ(back.sums, counts().sums);
    EXPECT_EQ(back.predecessors, counts().predecessors);
    expect_refusal_of_every_beginning(message, decode<StepCounts>);
  }
}

TEST(Messages, HowFarAnotherFileHasComeComesBack) {
  const steps::Standing standing{9, 4, {ErrorCode::storage_failure, "no room"}};
  for (const Kind kind : {Kind::other, Kind::home_other}) {
    const Bytes message = encode(file, kind, Other{large, standing});
    expect_header(message, kind);
    const Other back = decode<Other>(body(message));
    EXPECT_EQ(back.file, large);
    EXPECT_EQ(back.standing, standing);
    expect_refusal_of_every_beginning(message, decode<Other>);
  }
}

TEST(Messages, StepCountsOfRanksAreAdded) {
  StepCounts sum = counts();
  StepCounts more;
  more.events = 4;
  more.members = 1;
  more.pieces = {{3, 1}, {2, 8}};
  more.variables = {{4, {.elements = 5, .print = 7}}, {9, {.elements = 1, .print = 1}}};
  more.sums = {{4, {{}, 5}}};
  add(sum, more);
  EXPECT_EQ(sum.members, 3);
  EXPECT_EQ(sum.events, 4);
  EXPECT_EQ(sum.pieces,
            (std::vector<std::pair<std::int32_t, std::int64_t>>{{0, 5}, {2, 8}, {3, large + 1}}));
  EXPECT_EQ(sum.variables.at(1).elements, 10U);
  EXPECT_EQ(sum.variables.at(4).elements, 6U);
  EXPECT_EQ(sum.variables.at(9).elements, 1U);
  ASSERT_EQ(sum.sums.size(), 3U);
  EXPECT_EQ(sum.sums.back(), more.sums.front());
}

TEST(Messages, StepNoteComesBack) {
  const StepNote note{.step = large, .variable = 3, .number = -1, .outcome = disk_full};
  for (const Kind kind :
       {Kind::flush, Kind::want_place, Kind::placed, Kind::step_settled, Kind::step_done}) {
    const Bytes message = encode(file, kind, note);
    expect_header(message, kind);
    const StepNote back = decode<StepNote>(body(message));
    EXPECT_EQ(back.step, note.step);
    EXPECT_EQ(back.variable, note.variable);
    EXPECT_EQ(back.number, note.number);
    expect_equal(back.outcome, note.outcome);
    expect_refusal_of_every_beginning(message, decode<StepNote>);
  }
}

TEST(Messages, ActionComesBack) {
  const ActionNote note{.action = Action::discard,
                        .number = large,
                        .step = -1,
                        .named = 7,
                        .settled = 5,
                        .outcome = disk_full};
  for (const Kind kind : {Kind::action, Kind::action_done}) {
    const Bytes message = encode(file, kind, note);
    expect_header(message, kind);
    const ActionNote back = decode<ActionNote>(body(message));
    EXPECT_EQ(back.action, note.action);
    EXPECT_EQ(back.number, note.number);
    EXPECT_EQ(back.step, note.step);
    EXPECT_EQ(back.named, note.named);
    EXPECT_EQ(back.settled, note.settled);
    expect_equal(back.outcome, note.outcome);
    expect_refusal_of_every_beginning(message, decode<ActionNote>);
  }
}

TEST(Messages, OutcomeComesBack) {
  for (const Kind kind : {Kind::closed, Kind::file_failed, Kind::file_closed}) {
    for (const Outcome& outcome : {disk_full, Outcome{}}) {
      const Bytes message = encode(file, kind, outcome);
      expect_header(message, kind);
      expect_equal(decode<Outcome>(body(message)), outcome);
      expect_refusal_of_every_beginning(message, decode<Outcome>);
    }
  }
}

TEST(Messages, OpenedComesBack) {
  const Bytes message =
      encode(file, Kind::opened, Opened{.outcome = disk_full, .domain_bytes = 512});
  expect_header(message, Kind::opened);
  const Opened back = decode<Opened>(body(message));
  expect_equal(back.outcome, disk_full);
  EXPECT_EQ(back.domain_bytes, 512);
  expect_refusal_of_every_beginning(message, decode<Opened>);
}

TEST(Messages, NoticesComeBackInTheirOrder) {
  const std::vector<Notice> notices{
      {.about = Notice::About::written, .file = file, .number = 1, .outcome = {}},
      {.about = Notice::About::failed, .file = file, .number = 2, .outcome = disk_full},
      {.about = Notice::About::file_failed, .file = 3, .number = 0, .outcome = disk_full}};
  const Bytes message = encode(0, Kind::notices, notices);
  expect_header(message, Kind::notices, 0);
  const auto back = decode<std::vector<Notice>>(body(message));
  ASSERT_EQ(back.size(), notices.size());
  for (std::size_t i = 0; i < notices.size(); ++i) {
    EXPECT_EQ(back[i].about, notices[i].about);
    EXPECT_EQ(back[i].file, notices[i].file);
    EXPECT_EQ(back[i].number, notices[i].number);
    expect_equal(back[i].outcome, notices[i].outcome);
  }
  expect_refusal_of_every_beginning(message, decode<std::vector<Notice>>);
}

TEST(Messages, CountersComeBack) {
  const std::vector<double> counters{0.5, 1e300, -1};
  for (const Kind kind : {Kind::farewell, Kind::server_bye, Kind::all_bye}) {
    const Bytes message = encode(0, kind, counters);
    expect_header(message, kind, 0);
    EXPECT_EQ(decode<Counters>(body(message)), counters);
    expect_refusal_of_every_beginning(message, decode<Counters>);
  }
}

TEST(Messages, ByeIsAHeaderAlone) {
  const Bytes message = protocol::message(Kind::bye, file, {});
  expect_header(message, Kind::bye);
  EXPECT_TRUE(body(message).empty());
}

template <typename Change>
void expect_refusal(const Change& change) {
  const Bytes inside(40);
  Piece sent = piece(inside);
  sent.runs = 0;
  ASSERT_NO_THROW((void)decode<Piece>(body(encode(file, Kind::piece, sent))));
  change(sent);
  EXPECT_THROW((void)decode<Piece>(body(encode(file, Kind::piece, sent))), Error);
}

TEST(Messages, APieceThatIsNoneIsRefused) {
  const Bytes more(48);
  expect_refusal([](Piece& sent) { sent.box.dimensions = 9; });
  expect_refusal([](Piece& sent) { sent.box.count[0] = -2; });
  expect_refusal([](Piece& sent) { sent.first = -1; });
  expect_refusal([](Piece& sent) { sent.first = std::numeric_limits<std::int64_t>::min(); });
  expect_refusal([](Piece& sent) { sent.first = 2; });  // 5 of the 6 elements do not follow
  expect_refusal([](Piece& sent) { sent.count = 4; });
  expect_refusal([](Piece& sent) { sent.element_bytes = 0; });
  expect_refusal([](Piece& sent) { sent.chunk_elements = -1; });
  expect_refusal([&](Piece& sent) { sent.inside = more; });
}

TEST(Messages, NumbersOfNoticesThatAreNotThereTakeNoMemory) {
  WireWriter writer;
  writer.put(std::uint64_t{1} << 60U);
  EXPECT_THROW((void)decode<std::vector<Notice>>(writer.bytes()), Error);
}

TEST(Messages, ListsThatEndWithinANumberAreRefused) {
  WireWriter writer;
  writer.put_text("nine byte");
  EXPECT_THROW((void)decode<Counters>(writer.bytes()), Error);
}

TEST(Messages, StepCountsBelowNothingAreRefused) {
  StepCounts wrong = counts();
  wrong.predecessors.front().steps = -1;
  EXPECT_THROW((void)decode<StepCounts>(body(encode(file, Kind::end_step, wrong))), Error);
  wrong = counts();
  wrong.members = -1;
  EXPECT_THROW((void)decode<StepCounts>(body(encode(file, Kind::end_step, wrong))), Error);
  wrong = counts();
  wrong.step = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW((void)decode<StepCounts>(body(encode(file, Kind::end_step, wrong))), Error);
  wrong = counts();
  wrong.pieces[0].first = -1;
  EXPECT_THROW((void)decode<StepCounts>(body(encode(file, Kind::end_step, wrong))), Error);
  wrong = counts();
  wrong.sums[0].block.box.count[0] = -1;
  EXPECT_THROW((void)decode<StepCounts>(body(encode(file, Kind::end_step, wrong))), Error);
}

}  // namespace
}  // namespace iocomp::protocol
