// SPDX-License-Identifier: BSD-3-Clause
#include "writing/spill.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/error.h"
#include "base/log.h"
#include "disk/spill_file.h"
#include "trace/counters.h"
#include "unit/temporary_folder.h"
#include "unit/writing/pieces.h"
#include "unit/writing/written_file.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::writing {
namespace {

constexpr std::int64_t elements = 1024;  // of each piece: two pages
constexpr std::size_t piece_bytes = elements * sizeof(std::int64_t);

/// A file whose writer spills when more than `most_given` is on its way to the engine.
class SpillingFile {
 public:
  explicit SpillingFile(std::size_t most_given, std::size_t limit_bytes = std::size_t{1} << 20)
      : spill_{std::make_unique<disk::SpillFile>(folder_ / "", limit_bytes, disk::Options{}),
               {.most_given_bytes = most_given,
                .is_short = [this] { return is_short; },
                .take =
                    [this](Chunk& chunk, std::size_t bytes, std::size_t page_remainder) {
                      auto leased = file.arena.try_take(bytes + page_remainder);
                      chunk.lease = std::move(leased.value());
                      chunk.bytes = chunk.own_bytes =
                          chunk.lease.bytes().subspan(page_remainder, bytes);
                      return true;
                    }},
               counters},
        file{{.spill = &spill_}} {}

  /// Put the piece number `number` of a variable of many, each with values of its own.
  CountedPiece put(std::int64_t number, std::int64_t step = 0) {
    const auto of = int64_variable({64 * elements});
    std::vector<std::int64_t> start{number * elements};
    std::vector<std::int64_t> count{elements};
    CountedPiece put{of, array::make_box(of.shape, start.data(), count.data()), 0};
    put.piece->step = step;
    Chunk chunk;
    chunk.piece = put.piece;
    chunk.count = elements;
    chunk.lease = file.arena.try_take(piece_bytes).value();
    chunk.bytes = chunk.own_bytes = chunk.lease.bytes();
    auto* const values = reinterpret_cast<std::int64_t*>(chunk.own_bytes.data());
    std::iota(values, values + elements, number * elements + 1);
    file.writer->write(std::move(chunk));
    return put;
  }

  [[nodiscard]] std::string folder() const { return folder_ / ""; }

  bool is_short = true;
  trace::Counters counters;

 private:
  TemporaryFolder folder_;
  Spill spill_;

 public:
  WrittenFile file;  // its plans tell the spill
};

TEST(Spill, WhatFindsNoRoomGivesItsMemoryBackAndIsNotWritten) {
  SpillingFile spilling{piece_bytes};
  const auto first = spilling.put(0);
  EXPECT_FALSE(spilling.file.writer->has_spilled());
  const auto second = spilling.put(1);
  EXPECT_TRUE(spilling.file.writer->has_spilled());
  EXPECT_EQ(spilling.file.arena.used_bytes(), piece_bytes);  // of the first
  EXPECT_EQ(spilling.counters[trace::Counter::spilled_bytes], piece_bytes);
  EXPECT_FALSE(spilling.file.writer->take_back()) << "the first is not written yet";
  spilling.file.finish();
  EXPECT_EQ(*first.ended, 1);
  EXPECT_EQ(*second.ended, 0) << "its bytes are only in the spill file";
}

TEST(Spill, WhatIsTakenBackIsWrittenWhereItBelongs) {
  SpillingFile spilling{piece_bytes};
  std::vector<CountedPiece> pieces;
  for (int number = 0; number < 8; ++number) {
    pieces.push_back(spilling.put(number));
  }
  while (spilling.file.writer->has_spilled()) {
    spilling.file.finish();
    EXPECT_TRUE(spilling.file.writer->take_back());
  }
  spilling.file.finish();
  for (const auto& piece : pieces) {
    EXPECT_EQ(*piece.ended, 1);
    EXPECT_TRUE(piece.piece->failure.ok()) << piece.piece->failure.story;
  }
  std::vector<std::int64_t> expected(8 * elements);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(spilling.file.numbers(0, 8 * elements), expected);
  EXPECT_EQ(spilling.file.arena.used_bytes(), 0U);
}

TEST(Spill, AsMuchIsTakenBackAsMayBeOnItsWay) {
  SpillingFile spilling{2 * piece_bytes};
  for (int number = 0; number < 6; ++number) {
    (void)spilling.put(number);
  }
  spilling.file.finish();
  EXPECT_EQ(spilling.file.arena.used_bytes(), 0U);
  EXPECT_TRUE(spilling.file.writer->take_back());
  EXPECT_EQ(spilling.file.arena.used_bytes(), 2 * piece_bytes);
  EXPECT_FALSE(spilling.file.writer->take_back());
  spilling.file.finish();
  EXPECT_TRUE(spilling.file.writer->take_back());
  spilling.file.finish();
  EXPECT_FALSE(spilling.file.writer->has_spilled());
}

TEST(Spill, WhatTheDiskHasLostIsToldAndNotWritten) {
  SpillingFile spilling{piece_bytes};
  (void)spilling.put(0);
  const auto second = spilling.put(1);
  spilling.file.finish();
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.starts_with(spilling.folder()) && target.find("deleted") != std::string::npos) {
      const int descriptor = std::stoi(entry.path().filename().string());
      damaged += ::pwrite(descriptor, "lost", 4, 8) == 4 ? 1 : 0;
    }
  }
  ASSERT_GE(damaged, 1);
  EXPECT_TRUE(spilling.file.writer->take_back());
  spilling.file.finish();
  EXPECT_EQ(*second.ended, 1);
  EXPECT_NE(second.piece->failure.story.find("the disk has lost them"), std::string::npos)
      << second.piece->failure.story;
  EXPECT_EQ(spilling.file.numbers(piece_bytes, elements), std::vector<std::int64_t>(elements));
}

TEST(Spill, SaysThatMemoryIsNoPlaceForIt) {
  for (const bool is_memory : {true, false}) {
    const TemporaryFolder folder;
    const Mounted memory{folder / "memory", "size=1m"};
    if (!memory.is_mounted()) {
      GTEST_SKIP() << "this process may not mount a tmpfs";
    }
    trace::Counters counters;
    log::configure(log::Level::warning, "");
    testing::internal::CaptureStderr();
    {
      auto file = std::make_unique<disk::SpillFile>(folder / (is_memory ? "memory" : ""),
                                                    std::size_t{1} << 16, disk::Options{});
      const bool is_told = file->is_memory();
      const Spill spill{std::move(file), {}, counters};
      EXPECT_TRUE(is_told || !is_memory);
      const std::string told = testing::internal::GetCapturedStderr();
      EXPECT_EQ(told.find("stay in memory") != std::string::npos, is_told) << told;
    }
    log::configure(log::Level::silent, "");
  }
}

TEST(Spill, NothingIsSpilledWhileThereIsMemory) {
  SpillingFile spilling{piece_bytes};
  spilling.is_short = false;
  for (int number = 0; number < 4; ++number) {
    (void)spilling.put(number);
  }
  EXPECT_FALSE(spilling.file.writer->has_spilled());
}

TEST(Spill, WhatTheFolderHasNoRoomForKeepsItsMemory) {
  SpillingFile spilling{piece_bytes, piece_bytes};
  std::vector<CountedPiece> pieces;
  for (int number = 0; number < 4; ++number) {
    pieces.push_back(spilling.put(number));
  }
  EXPECT_EQ(spilling.counters[trace::Counter::spilled_bytes], piece_bytes);
  EXPECT_EQ(spilling.file.arena.used_bytes(), 3 * piece_bytes);
  spilling.file.finish();
  EXPECT_TRUE(spilling.file.writer->take_back());
  spilling.file.finish();
  for (const auto& piece : pieces) {
    EXPECT_EQ(*piece.ended, 1);
    EXPECT_TRUE(piece.piece->failure.ok());
  }
}

TEST(Spill, WhatIsGivenUpIsToldAndNotWritten) {
  SpillingFile spilling{piece_bytes};
  (void)spilling.put(0, 0);
  const auto kept = spilling.put(1, 1);
  const auto lost = spilling.put(2, 2);
  spilling.file.writer->drop_spilled(2, 3, {ErrorCode::storage_failure, "the step failed"});
  EXPECT_EQ(*lost.ended, 1);
  EXPECT_EQ(lost.piece->failure.story, "the step failed");
  spilling.file.finish();
  EXPECT_TRUE(spilling.file.writer->take_back());
  spilling.file.finish();
  EXPECT_EQ(*kept.ended, 1);
  EXPECT_TRUE(kept.piece->failure.ok());
  EXPECT_EQ(spilling.file.numbers(2 * piece_bytes, 1), std::vector<std::int64_t>{0});
}

}  // namespace
}  // namespace iocomp::writing
