// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/put_messages.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/run_list.h"
#include "base/error.h"
#include "base/wire.h"
#include "protocol/header.h"
#include "unit/protocol/truncated.h"

namespace iocomp::protocol {
namespace {

constexpr std::uint64_t the_file = 0xfedcba9876543210ULL;
constexpr std::int64_t beyond_32_bits = std::int64_t{3} << 40;

array::RunList runs() {
  array::RunList list;
  list.append({.index = 2, .elements = 3});
  list.append({.index = beyond_32_bits, .elements = 1});
  return list;
}

void expect_equal(const array::RunList& one, const array::RunList& other) {
  ASSERT_EQ(one.size(), other.size());
  EXPECT_EQ(one.elements(), other.elements());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one.run(i).index, other.run(i).index);
    EXPECT_EQ(one.run(i).elements, other.run(i).elements);
  }
}

std::vector<steps::PutRecord> puts() {
  array::Box box;
  box.dimensions = 1;
  box.start[0] = beyond_32_bits;
  box.count[0] = 4;
  steps::PutRecord block{.variable = 1, .rank = 2, .part = {}};
  block.part.region = box;
  block.part.first = 1;
  block.part.count = 3;
  steps::PutRecord list{.variable = 5, .rank = 0, .part = {}};
  list.part.region = std::make_shared<const array::RunList>(runs());
  list.part.count = 4;
  return {block, list};
}

void expect_equal(const std::vector<steps::PutRecord>& one,
                  const std::vector<steps::PutRecord>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].variable, other[i].variable);
    EXPECT_EQ(one[i].rank, other[i].rank);
    EXPECT_EQ(one[i].part.first, other[i].part.first);
    EXPECT_EQ(one[i].part.count, other[i].part.count);
    ASSERT_EQ(one[i].part.region.runs == nullptr, other[i].part.region.runs == nullptr);
    if (one[i].part.region.runs) {
      expect_equal(*one[i].part.region.runs, *other[i].part.region.runs);
    } else {
      EXPECT_EQ(one[i].part.region.box, other[i].part.region.box);
    }
  }
}

TEST(PutMessages, RunListComesBackWithItsNumber) {
  const Bytes message = encode(0, Kind::run_list, NumberedRuns{17, runs()});
  EXPECT_EQ(check_header(message, 0).kind, Kind::run_list);
  const auto [number, list] = decode<NumberedRuns>(body(message));
  EXPECT_EQ(number, 17U);
  expect_equal(list, runs());
  expect_refusal_of_every_beginning(message, decode<NumberedRuns>);
}

TEST(PutMessages, RunListThatDoesNotAscendIsRefused) {
  WireWriter writer;
  writer.put(std::uint64_t{17});
  writer.put(std::uint64_t{2});
  writer.put(array::Run{.index = 5, .elements = 2});
  writer.put(array::Run{.index = 6, .elements = 1});
  EXPECT_THROW((void)decode<NumberedRuns>(writer.bytes()), Error);
}

TEST(PutMessages, RunListThatClaimsMoreRunsThanItHasIsRefusedBeforeMemoryIsTaken) {
  WireWriter writer;
  writer.put(std::uint64_t{17});
  writer.put(std::uint64_t{1} << 60U);
  EXPECT_THROW((void)decode<NumberedRuns>(writer.bytes()), Error);
}

TEST(PutMessages, ForgetRunListComesBack) {
  const Bytes message = encode(0, Kind::forget_run_list, std::uint64_t{17});
  EXPECT_EQ(check_header(message, 0).kind, Kind::forget_run_list);
  EXPECT_EQ(decode<std::uint64_t>(body(message)), 17U);
  expect_refusal_of_every_beginning(message, decode<std::uint64_t>);
}

TEST(PutMessages, PutReportComesBack) {
  const Bytes message =
      encode(the_file, Kind::put_report, PutReport{.step = beyond_32_bits, .puts = puts()});
  EXPECT_EQ(check_header(message, 0).kind, Kind::put_report);
  EXPECT_EQ(check_header(message, 0).file, the_file);
  const PutReport back = decode<PutReport>(body(message));
  EXPECT_EQ(back.step, beyond_32_bits);
  expect_equal(back.puts, puts());
  expect_refusal_of_every_beginning(message, decode<PutReport>);
}

TEST(PutMessages, OwnWrittenComesBack) {
  const Outcome failed{ErrorCode::storage_failure, "no space left"};
  const Bytes message =
      encode(the_file, Kind::own_written, OwnWritten{.step = 3, .outcome = failed, .puts = puts()});
  EXPECT_EQ(check_header(message, 0).kind, Kind::own_written);
  const OwnWritten back = decode<OwnWritten>(body(message));
  EXPECT_EQ(back.step, 3);
  EXPECT_EQ(back.outcome.code, failed.code);
  EXPECT_EQ(back.outcome.story, failed.story);
  expect_equal(back.puts, puts());
  expect_refusal_of_every_beginning(message, decode<OwnWritten>);
}

TEST(PutMessages, ExpectationComesBack) {
  const Bytes message = encode(
      the_file, Kind::expect,
      Expectation{.step = 2, .pieces = beyond_32_bits, .report = {1, 4}, .ends_stripes = false});
  EXPECT_EQ(check_header(message, 0).kind, Kind::expect);
  const Expectation back = decode<Expectation>(body(message));
  EXPECT_EQ(back.step, 2);
  EXPECT_EQ(back.pieces, beyond_32_bits);
  EXPECT_EQ(back.report, (std::vector<std::int32_t>{1, 4}));
  EXPECT_FALSE(back.ends_stripes);
  expect_refusal_of_every_beginning(message, decode<Expectation>);
}

TEST(PutMessages, FillOrderComesBack) {
  const auto list = std::make_shared<const array::RunList>(runs());
  const auto none = std::make_shared<const array::RunList>();
  const Bytes message = encode(the_file, Kind::fill,
                               FillOrder{.step = 2, .holes = {{1, list}, {2, list}, {6, none}}});
  EXPECT_EQ(check_header(message, 0).kind, Kind::fill);
  const FillOrder back = decode<FillOrder>(body(message));
  EXPECT_EQ(back.step, 2);
  ASSERT_EQ(back.holes.size(), 3U);
  expect_equal(*back.holes.at(1), runs());
  EXPECT_EQ(back.holes.at(2), back.holes.at(1));  // it is sent once
  EXPECT_EQ(back.holes.at(6)->size(), 0U);
  expect_refusal_of_every_beginning(message, decode<FillOrder>);
}

TEST(PutMessages, AFillOrderWhoseFirstListIsThatOfOneBeforeIsRefused) {
  WireWriter writer;
  writer.put(std::int64_t{2});
  writer.put(std::uint64_t{1});
  writer.put(std::int32_t{1});
  writer.put(true);
  EXPECT_THROW((void)decode<FillOrder>(writer.bytes()), Error);
}

TEST(PutMessages, PutsThatAreNoneAreRefused) {
  const auto refuses = [](const steps::PutRecord& put) {
    EXPECT_THROW(
        (void)decode<PutReport>(body(encode(the_file, Kind::put_report, PutReport{0, {put}}))),
        Error);
  };
  for (auto put : puts()) {
    put.part.count = 5;
    refuses(put);
    put.part.count = -1;
    refuses(put);
  }
  auto block = puts()[0];
  block.part.region.box.dimensions = 9;
  refuses(block);
}

TEST(PutMessages, NumbersOfPutsThatAreNotThereTakeNoMemory) {
  WireWriter writer;
  writer.put(std::int64_t{0});
  writer.put(std::uint64_t{1} << 60U);
  EXPECT_THROW((void)decode<PutReport>(writer.bytes()), Error);
}

TEST(PutMessages, AnExpectationThatEndsWithinANumberIsRefused) {
  WireWriter writer;
  writer.put(std::int64_t{2});
  writer.put(std::int64_t{3});
  writer.put_text("seven b");
  EXPECT_THROW((void)decode<Expectation>(writer.bytes()), Error);
}

TEST(PutMessages, RunsThatEndBehind63BitsAreRefused) {
  WireWriter writer;
  writer.put(std::uint64_t{1});  // its number
  writer.put(std::uint64_t{1});  // so many
  writer.put(array::Run{.index = 5, .elements = std::numeric_limits<std::int64_t>::max() - 4});
  EXPECT_THROW((void)decode<NumberedRuns>(writer.bytes()), Error);
}

TEST(PutMessages, WhatIsNeitherYesNorNoIsRefused) {
  auto message = encode(the_file, Kind::put_report, PutReport{0, {puts()[0]}});
  const std::size_t is_list = sizeof(Header) + 2 * sizeof(std::int64_t) + 2 * sizeof(std::int32_t) +
                              2 * sizeof(std::int64_t);
  message.at(is_list) = std::byte{2};
  EXPECT_THROW((void)decode<PutReport>(body(message)), Error);
}

}  // namespace
}  // namespace iocomp::protocol
