// SPDX-License-Identifier: BSD-3-Clause
#include "writing/file_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/byte_order.h"
#include "array/run_list.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "trace/counters.h"
#include "unit/temporary_folder.h"
#include "unit/writing/pieces.h"
#include "unit/writing/written_file.h"
#include "writing/piece.h"

namespace iocomp::writing {
namespace {

using Writes = std::vector<std::pair<std::int64_t, std::size_t>>;

std::int64_t swapped(std::int64_t value) {
  array::swap_bytes(std::as_writable_bytes(std::span{&value, 1}), sizeof value);
  return value;
}

array::Box box_of(const contents::Variable& of, std::vector<std::int64_t> start,
                  std::vector<std::int64_t> count) {
  return array::make_box(of.shape, start.data(), count.data());
}

CountedPiece columns(const contents::Variable& of, std::int64_t first, std::int64_t count) {
  return {of, box_of(of, {0, first}, {of.shape.extent[0], count}), 0};
}

/// Write all of a piece, from memory that the caller keeps.
void write_all(FileWriter& writer, const CountedPiece& of, std::vector<std::int64_t>& values) {
  values = values_of(*of.piece, 0, of.piece->elements_left);
  writer.write(chunk_of(of, 0, values));
}

TEST(FileWriter, WritesEachRunWhereItBelongs) {
  WrittenFile file;
  const auto of = int64_variable({4, 8});
  const CountedPiece middle{of, box_of(of, {1, 2}, {2, 3}), 4096};
  auto begin = values_of(*middle.piece, 0, 2);
  auto rest = values_of(*middle.piece, 2, 4);
  file.writer->write(chunk_of(middle, 0, begin));
  file.writer->write(chunk_of(middle, 2, rest));
  EXPECT_EQ(*middle.ended, 0);
  file.finish();
  EXPECT_EQ(*middle.ended, 1);
  EXPECT_TRUE(middle.piece->failure.ok()) << middle.piece->failure.story;
  std::vector<std::int64_t> expected(32);
  for (const std::size_t index : {10U, 11U, 12U, 18U, 19U, 20U}) {
    expected[index] = static_cast<std::int64_t>(index) + 1;
  }
  EXPECT_EQ(file.numbers(4096, 32), expected);
  EXPECT_EQ(file.numbers(0, 512), std::vector<std::int64_t>(512));
}

TEST(FileWriter, BringsNumbersIntoTheOrderOfTheFile) {
  WrittenFile file{{.swaps_bytes = true}};
  const auto of = int64_variable({64, 128});
  const CountedPiece row{of, box_of(of, {63, 0}, {1, 128}), 0};
  const auto column = columns(of, 3, 2);
  file.stripes.choose(*column.piece, 0, 64 * 128);
  ASSERT_TRUE(column.piece->is_joined());
  std::vector<std::int64_t> of_row;
  std::vector<std::int64_t> of_column;
  write_all(*file.writer, column, of_column);
  file.writer->write(std::move(file.stripes.withdraw_oldest().front()));
  write_all(*file.writer, row, of_row);
  file.finish();
  const auto found = file.numbers(0, 64 * 128);
  EXPECT_EQ(found[3], swapped(4));
  EXPECT_EQ(found[4], swapped(5));
  EXPECT_EQ(found[5], 0);
  EXPECT_EQ(found[63 * 128 + 100], swapped(63 * 128 + 101));
}

// Numbers of a variable that keeps 2 bits of each: 1 + 1/4 + 1/16 becomes 1 + 1/4.
TEST(FileWriter, RoundsValuesInEitherOrderAndStripesButNotWhatItFills) {
  for (const bool swaps : {false, true}) {
    WrittenFile file{{.swaps_bytes = swaps}};
    auto of = int64_variable({64, 128});
    of.type = array::ElementType::float64;
    of.kept_bits = 2;
    const CountedPiece row{of, box_of(of, {63, 0}, {1, 128}), 0};
    const CountedPiece hole{of, box_of(of, {62, 0}, {1, 128}), 0};
    const auto column = columns(of, 3, 2);
    file.stripes.choose(*column.piece, 0, 64 * 128);
    ASSERT_TRUE(column.piece->is_joined());
    const auto odd = std::bit_cast<std::int64_t>(1.3125);
    const auto near = std::bit_cast<std::int64_t>(1.25);
    std::vector<std::int64_t> of_row(128, odd);
    std::vector<std::int64_t> of_column(2 * 64, odd);
    file.writer->write(chunk_of(column, 0, of_column));
    file.writer->write(std::move(file.stripes.withdraw_oldest().front()));
    file.writer->write(chunk_of(row, 0, of_row));
    file.writer->fill(hole.piece, std::as_bytes(std::span{&odd, 1}));
    file.finish();
    const auto found = file.numbers(0, 64 * 128);
    EXPECT_EQ(found[3], swaps ? swapped(near) : near);
    EXPECT_EQ(found[63 * 128 + 100], swaps ? swapped(near) : near);
    EXPECT_EQ(found[62 * 128 + 100], swaps ? swapped(odd) : odd);
    EXPECT_EQ(*row.ended + *column.ended + *hole.ended, 3);
    EXPECT_TRUE(row.piece->failure.ok()) << row.piece->failure.story;
  }
}

TEST(FileWriter, RoundsNothingInMemoryOfOthers) {
  WrittenFile file;
  auto of = int64_variable({100});
  of.type = array::ElementType::float64;
  of.kept_bits = 2;
  const CountedPiece piece{of, box_of(of, {0}, {100}), 0};
  const std::vector<double> values(100, 1.3125);
  Chunk chunk;
  chunk.piece = piece.piece;
  chunk.count = 100;
  chunk.bytes = std::as_bytes(std::span{values});
  file.writer->write(std::move(chunk));
  file.finish();
  EXPECT_FALSE(piece.piece->failure.ok());
  EXPECT_EQ(values[7], 1.3125);
}

TEST(FileWriter, GivesSmallNeighboursToTheEngineAsOneWrite) {
  WrittenFile file;
  const auto of = int64_variable({100});
  std::vector<std::int64_t> values(30);
  std::iota(values.begin(), values.end(), 11);
  std::vector<CountedPiece> pieces;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto& piece = pieces.emplace_back(of, box_of(of, {10 + 10 * i}, {10}), 0);
    Chunk chunk;
    chunk.piece = piece.piece;
    chunk.count = 10;
    chunk.bytes = std::as_bytes(std::span{values}.subspan(static_cast<std::size_t>(10 * i), 10));
    file.writer->write(std::move(chunk));
  }
  EXPECT_TRUE(file.plans.empty());
  file.finish();
  ASSERT_EQ(file.plans.size(), 1U);
  EXPECT_EQ(file.plans[0].writes, (Writes{{80, 240}}));
  EXPECT_TRUE(std::ranges::all_of(pieces, [](const auto& piece) { return *piece.ended == 1; }));
  EXPECT_EQ(file.numbers(80, 30), values);
}

TEST(FileWriter, PutsShortRunsTogetherInOneWrite) {
  WrittenFile file;
  const auto of = int64_variable({64, 128});  // 64 KiB: one stripe
  const auto left = columns(of, 0, 64);
  const auto right = columns(of, 64, 64);
  std::vector<std::int64_t> of_left;
  std::vector<std::int64_t> of_right;
  for (const auto* piece : {&left, &right}) {
    file.stripes.choose(*piece->piece, 0, 64 * 128);
    ASSERT_TRUE(piece->piece->is_joined());
  }
  write_all(*file.writer, left, of_left);
  EXPECT_TRUE(file.plans.empty());
  write_all(*file.writer, right, of_right);
  ASSERT_EQ(file.plans.size(), 1U);
  EXPECT_EQ(file.plans[0].writes, (Writes{{0, 64 << 10}}));
  EXPECT_EQ(*left.ended + *right.ended, 0);
  file.finish();
  EXPECT_EQ(*left.ended, 1);
  EXPECT_EQ(*right.ended, 1);
  std::vector<std::int64_t> expected(64 * 128);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(file.numbers(0, 64 * 128), expected);
  EXPECT_EQ(file.arena.used_bytes(), 0U);
  EXPECT_EQ(file.counters[trace::Counter::stripes], 1);
  EXPECT_EQ(file.counters[trace::Counter::joined_bytes], 64 << 10);
}

TEST(FileWriter, SaysWhetherPuttingAChunkTogetherHasWrittenAnything) {
  WrittenFile file;
  const auto of = int64_variable({64, 128});
  const auto left = columns(of, 0, 64);
  const auto right = columns(of, 64, 64);
  for (const auto* piece : {&left, &right}) {
    file.stripes.choose(*piece->piece, 0, 64 * 128);
    auto values = values_of(*piece->piece, 0, 64 * 64);
    Chunk chunk = chunk_of(*piece, 0, values);
    EXPECT_EQ(file.writer->join(chunk), piece == &right);
    EXPECT_EQ(chunk.count, 0);
  }
  file.finish();
  EXPECT_EQ(file.plans.size(), 1U);
}

// The reason is told when the chunk is written by itself.
TEST(FileWriter, PutsNothingTogetherForAFileThatItCannotOpen) {
  WrittenFile file{{.path = Path{"/proc/nowhere"}}};
  const auto of = int64_variable({64, 128});
  const auto whole = columns(of, 0, 128);
  file.stripes.choose(*whole.piece, 0, 64 * 128);
  whole.piece->stripe_elements = 64 * 128;
  whole.piece->domain_end = 64 * 128;
  auto values = values_of(*whole.piece, 0, 64 * 128);
  Chunk chunk = chunk_of(whole, 0, values);
  EXPECT_FALSE(file.writer->join(chunk));
  EXPECT_EQ(chunk.count, 64 * 128);
  EXPECT_TRUE(file.plans.empty());
  EXPECT_EQ(file.arena.used_bytes(), 0U);
}

TEST(FileWriter, WritesOfAPartialStripeOnlyWhatItHas) {
  WrittenFile file;
  const auto of = int64_variable({64, 128});
  const auto column = columns(of, 5, 1);
  file.stripes.choose(*column.piece, 0, 64 * 128);
  std::vector<std::int64_t> of_column;
  write_all(*file.writer, column, of_column);
  for (auto& stripe : file.stripes.withdraw_step(0)) {
    file.writer->write(std::move(stripe));
  }
  ASSERT_EQ(file.plans.size(), 1U);
  EXPECT_EQ(file.plans[0].writes.size(), 64U);
  file.finish();
  EXPECT_EQ(*column.ended, 1);
  const auto found = file.numbers(0, 64 * 128);
  EXPECT_EQ(std::ranges::count(found, 0), 64 * 128 - 64);
  EXPECT_EQ(found[128 + 5], 128 + 6);
  EXPECT_EQ(file.counters[trace::Counter::partial_stripes], 1);
}

TEST(FileWriter, FillsHolesInParts) {
  for (const bool swaps : {false, true}) {
    WrittenFile file{{.swaps_bytes = swaps}};
    const auto of = int64_variable({200'000});
    auto holes = std::make_shared<array::RunList>();
    holes->append({.index = 5, .elements = 100'000});
    holes->append({.index = 150'000, .elements = 7});
    const CountedPiece piece{of, array::Region{std::shared_ptr<const array::RunList>{holes}}, 8};
    const std::int64_t value = -7;
    file.writer->fill(piece.piece, std::as_bytes(std::span{&value, 1}));
    file.finish();
    EXPECT_EQ(*piece.ended, 1);
    EXPECT_GT(file.plans.size(), 1U);
    const auto found = file.numbers(8, 200'000);
    EXPECT_EQ(std::ranges::count(found, swaps ? swapped(value) : value), 100'007);
    EXPECT_EQ(found[4], 0);
    EXPECT_NE(found[5], 0);
    EXPECT_NE(found[150'006], 0);
    EXPECT_EQ(found[150'007], 0);
  }
}

TEST(FileWriter, APieceWithoutElementsIsFilledAtOnce) {
  WrittenFile file;
  const auto of = int64_variable({10});
  const CountedPiece piece{of, box_of(of, {3}, {0}), 8};
  file.writer->fill(piece.piece, {});
  EXPECT_EQ(*piece.ended, 1);
  file.finish();
  EXPECT_TRUE(file.plans.empty());
}

TEST(FileWriter, CountsAllThatIsWrittenOnceWhenItEnds) {
  FileWriter::Setup setup;
  setup.disk.direct = disk::Direct::on;
  WrittenFile file{std::move(setup)};
  auto lease = file.arena.try_take(1 << 16);  // as the file is aligned
  const auto of = int64_variable({8192});
  const CountedPiece aligned{of, box_of(of, {0}, {8192}), 0};
  Chunk chunk;
  chunk.piece = aligned.piece;
  chunk.count = 8192;
  chunk.bytes = lease->bytes();
  file.writer->write(std::move(chunk));
  const CountedPiece piece{int64_variable({1000}), box_of(of, {0}, {1000}), 1 << 16};
  std::vector<std::int64_t> values;
  write_all(*file.writer, piece, values);
  file.finish();
  const auto output = file.writer->file().opened();
  file.writer.reset();
  const double direct = file.counters[trace::Counter::direct_bytes];
  EXPECT_EQ(direct, output->direct_bytes());
  EXPECT_EQ(direct > 0, output->takes_direct());
  EXPECT_EQ(direct + file.counters[trace::Counter::buffered_bytes], (1 << 16) + 8000);
}

TEST(FileWriter, TellsThePiecesOfAPlanThatFailedAndNoOthers) {
  WrittenFile file;
  file.fails = [](std::size_t plan) { return plan == 1; };
  const auto of = int64_variable({100});
  std::vector<CountedPiece> pieces;
  std::vector<std::vector<std::int64_t>> values(3);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto& piece = pieces.emplace_back(of, box_of(of, {10 * i}, {10}), 0);
    write_all(*file.writer, piece, values[static_cast<std::size_t>(i)]);
    file.writer->submit();
  }
  file.finish();
  EXPECT_TRUE(pieces[0].piece->failure.ok());
  EXPECT_EQ(pieces[1].piece->failure.code, ErrorCode::storage_failure);
  EXPECT_EQ(pieces[1].piece->failure.story, "no room for plan 1");
  EXPECT_TRUE(pieces[2].piece->failure.ok());
  EXPECT_TRUE(std::ranges::all_of(pieces, [](const auto& piece) { return *piece.ended == 1; }));
  EXPECT_EQ(file.numbers(160, 10), values[2]);
}

TEST(FileWriter, TellsEveryPieceOfAStripeThatFailed) {
  WrittenFile file;
  file.fails = [](std::size_t) { return true; };
  const auto of = int64_variable({64, 128});
  const auto left = columns(of, 0, 64);
  const auto right = columns(of, 64, 64);
  std::vector<std::int64_t> of_left;
  std::vector<std::int64_t> of_right;
  file.stripes.choose(*left.piece, 0, 64 * 128);
  file.stripes.choose(*right.piece, 0, 64 * 128);
  write_all(*file.writer, left, of_left);
  write_all(*file.writer, right, of_right);
  for (const auto* piece : {&left, &right}) {
    EXPECT_EQ(*piece->ended, 1);
    EXPECT_EQ(piece->piece->failure.story, "no room for plan 0");
  }
  EXPECT_EQ(file.arena.used_bytes(), 0U);
}

TEST(FileWriter, DropsTheRestOfAPieceThatHasFailed) {
  WrittenFile file;
  file.fails = [](std::size_t) { return true; };
  const auto of = int64_variable({100});
  const CountedPiece piece{of, box_of(of, {0}, {100}), 0};
  auto begin = values_of(*piece.piece, 0, 60);
  auto rest = values_of(*piece.piece, 60, 40);
  file.writer->write(chunk_of(piece, 0, begin));
  file.writer->submit();
  EXPECT_FALSE(piece.piece->failure.ok());
  EXPECT_EQ(*piece.ended, 0);
  file.writer->write(chunk_of(piece, 60, rest));
  EXPECT_EQ(*piece.ended, 1);
  EXPECT_EQ(file.plans.size(), 1U);
}

TEST(FileWriter, NamesTheFileThatItCannotOpen) {
  WrittenFile file{{.path = Path{"/proc/nowhere"}}};
  const auto of = int64_variable({4});
  const CountedPiece piece{of, box_of(of, {0}, {4}), 0};
  std::vector<std::int64_t> values;
  write_all(*file.writer, piece, values);
  EXPECT_EQ(*piece.ended, 1);
  EXPECT_EQ(piece.piece->failure.code, ErrorCode::storage_failure);
  EXPECT_NE(piece.piece->failure.story.find("/proc/nowhere"), std::string::npos);
}

TEST(FileWriter, OpensNothingThatOthersHaveTakenOver) {
  const TemporaryFolder folder;
  OpenFolder taken_over{folder / "."};
  taken_over.fence([] { return true; });
  WrittenFile file{
      {.path = Path{std::make_shared<const OpenFolder>(std::move(taken_over)), "file"}}};
  const Outcome opened = outcome_of([&] { (void)file.writer->file().open(); });
  EXPECT_NE(opened.story.find("Operation canceled"), std::string::npos) << opened.story;
  EXPECT_EQ(file.writer->file().opened(), nullptr);
}

TEST(FileWriter, EndsPiecesBeforeTheyAreSynced) {
  WrittenFile file;
  const auto of = int64_variable({100});
  const CountedPiece piece{of, box_of(of, {0}, {100}), 0};
  std::vector<std::int64_t> values;
  std::vector<Outcome> synced;
  piece.piece->ended = [&](const auto& /*piece*/) {
    EXPECT_FALSE(file.plans.back().sync);
    file.writer->sync([&](const Outcome& outcome) { synced.push_back(outcome); });
  };
  write_all(*file.writer, piece, values);
  file.finish();
  ASSERT_EQ(file.plans.size(), 2U);
  EXPECT_TRUE(file.plans[1].sync);
  EXPECT_TRUE(file.plans[1].writes.empty());
  ASSERT_EQ(synced.size(), 1U);
  EXPECT_TRUE(synced[0].ok()) << synced[0].story;
}

TEST(FileWriter, MayGoBeforeItsPlansHaveEnded) {
  WrittenFile file;
  const auto of = int64_variable({100});
  const CountedPiece piece{of, box_of(of, {0}, {100}), 0};
  std::vector<std::int64_t> values;
  write_all(*file.writer, piece, values);
  file.writer->submit();
  int synced = 0;
  file.writer->sync([&](const Outcome& /*outcome*/) { ++synced; });
  file.writer->sync([&](const Outcome& /*outcome*/) { ++synced; });
  file.writer = std::make_unique<FileWriter>(
      FileWriter::Setup{.path = Path{"/proc/nowhere"}, .counters = &file.counters});
  file.finish();
  EXPECT_EQ(*piece.ended, 1);
  EXPECT_EQ(synced, 2);
}

}  // namespace
}  // namespace iocomp::writing
