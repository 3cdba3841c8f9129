// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "base/error.h"
#include "base/log.h"
#include "disk/output_file.h"
#include "disk/thread_engine.h"
#include "faulty_calls.h"
#include "folder.h"
#include "unit/seed.h"

namespace iocomp::disk {
namespace {

constexpr std::size_t page = 4096;

Options direct_on() {
  Options options;
  options.direct = Direct::on;
  return options;
}

class OutputFileWithFaults : public testing::Test {
 protected:
  OutputFileWithFaults() { faults = {}; }
  ~OutputFileWithFaults() override { faults = {}; }

  // 0 where the file system refuses O_DIRECT anyway.
  int direct_calls_of_a_write() {
    OutputFile file{opened(folder_.file("probe")), folder_.file("probe"), direct_on()};
    const PageAligned data{page};
    file.write(0, data.bytes());
    return std::exchange(faults.direct_calls, 0);
  }

  Folder folder_;
};

template <typename Body>
std::string failure_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing failed";
}

TEST_F(OutputFileWithFaults, GoesOnAfterInterrupts) {
  const PageAligned data{10 * page};
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), direct_on()};
  faults.interrupts = 5;
  file.grow(20 * page);
  faults.interrupts = 5;
  file.write(7, data.part(7, 9 * page));
  faults.interrupts = 5;
  file.sync();
  EXPECT_EQ(faults.interrupts, 0);
  const auto content = content_of(file.path());
  EXPECT_TRUE(same(std::span{content}.subspan(7, 9 * page), data.part(7, 9 * page)));
}

TEST_F(OutputFileWithFaults, GoesOnAfterShortWrites) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  const PageAligned data{10 * page, seed};
  for (int i = 0; i < 50; ++i) {
    OutputFile file{opened(folder_.file(std::to_string(i))), folder_.file(std::to_string(i)),
                    direct_on()};
    faults.most_bytes = static_cast<std::size_t>(draw(generator, 500, 3 * page));
    const auto first = static_cast<std::size_t>(draw(generator, 0, 2 * page));
    const auto count = static_cast<std::size_t>(draw(generator, 1, 8 * page));
    file.write(static_cast<std::int64_t>(first), data.part(first, count));
    const auto content = content_of(file.path());
    ASSERT_EQ(content.size(), first + count);
    ASSERT_TRUE(same(std::span{content}.subspan(first), data.part(first, count)));
    ASSERT_EQ(file.direct_bytes() + file.buffered_bytes(), count);
  }
}

TEST_F(OutputFileWithFaults, IsWrittenFromACopyAfterShortWrites) {
  PageAligned data{64 * page};
  PageAligned copy{64 * page, 2};
  const std::vector<std::byte> expected(data.bytes().begin(), data.bytes().end());
  Options options = direct_on();
  options.request_bytes = 4 * page;
  faults.most_bytes = 3 * page / 2;
  {
    ThreadEngine engine{options};
    auto file = std::make_shared<OutputFile>(opened(folder_.file("f")), folder_.file("f"), options);
    engine.submit(
        {.id = 0, .file = std::move(file), .writes = {{.offset = 0, .bytes = data.bytes()}}});
    (void)engine.move(data.bytes(), copy.bytes(), 0);
    while (engine.reads(data.bytes())) {
      engine.wait(std::chrono::minutes{1});
    }
    std::ranges::fill(data.bytes(), std::byte{0xEE});
  }
  EXPECT_TRUE(same(content_of(folder_.file("f")), expected));
}

TEST_F(OutputFileWithFaults, StaysDirectAfterAShortWriteThatEndsInsideABlock) {
  if (direct_calls_of_a_write() == 0) {
    GTEST_SKIP() << "the file system of " << folder_.path() << " refuses O_DIRECT";
  }
  const PageAligned data{8 * page};
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), direct_on()};
  faults.most_told_bytes = page + 100;
  file.write(0, data.bytes());
  EXPECT_EQ(file.direct_bytes(), 8 * page);
  EXPECT_TRUE(same(content_of(file.path()), data.bytes()));
}

TEST_F(OutputFileWithFaults, GivesUpDirectWritesWhereTheyAreRefused) {
  const bool is_direct_possible = direct_calls_of_a_write() > 0;
  for (const int error : {EINVAL, EOPNOTSUPP}) {
    const PageAligned data{10 * page};
    OutputFile file{opened(folder_.file(std::to_string(error))),
                    folder_.file(std::to_string(error)), direct_on()};
    faults.direct_error = error;
    file.write(0, data.part(0, 5 * page));
    EXPECT_EQ(faults.direct_calls, is_direct_possible ? 1 : 0);
    file.write(5 * page, data.part(5 * page, 5 * page));
    EXPECT_EQ(std::exchange(faults.direct_calls, 0), is_direct_possible ? 1 : 0) << "asked again";
    EXPECT_EQ(file.buffered_bytes(), 10 * page);
    EXPECT_TRUE(same(content_of(file.path()), data.bytes()));
  }
}

TEST_F(OutputFileWithFaults, TellsEveryOtherErrorWithTheTextOfTheSystem) {
  const bool is_direct_possible = direct_calls_of_a_write() > 0;
  const PageAligned data{page};
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), direct_on()};
  const std::string what = "writing 4096 bytes at offset 0 of " + file.path() + ": ";
  faults.buffered_error = EDQUOT;
  faults.direct_error = EDQUOT;
  EXPECT_EQ(failure_of([&] { file.write(0, data.bytes()); }), what + "Disk quota exceeded");
  faults.direct_error = EIO;
  faults.buffered_error = is_direct_possible ? 0 : EIO;
  EXPECT_EQ(failure_of([&] { file.write(0, data.bytes()); }), what + "Input/output error");
}

TEST_F(OutputFileWithFaults, RemembersThatASyncFailed) {
  const PageAligned data{page};
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), {}};
  file.write(0, data.bytes());
  faults.sync_error = EIO;
  const std::string expected = "syncing " + file.path() + ": Input/output error";
  EXPECT_EQ(failure_of([&] { file.sync(); }), expected);
  EXPECT_EQ(failure_of([&] { file.sync(); }), expected) << "the system tells it once";
}

TEST_F(OutputFileWithFaults, TellsWhyItCannotGrow) {
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), {}};
  faults.buffered_error = ENOSPC;
  EXPECT_EQ(failure_of([&] { file.grow(10'000); }),
            "growing " + file.path() + " to 10000 bytes: No space left on device");
}

TEST_F(OutputFileWithFaults, TellsThatItCannotReadWhatItWritesAgain) {
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), {}};
  faults.read_error = EIO;
  EXPECT_EQ(failure_of([&] { file.grow(10); }),
            "growing " + file.path() + " to 10 bytes: Input/output error");
}

// On another node an fsync of this process is none of what made it so long.
TEST_F(OutputFileWithFaults, ALongEnoughFileIsGrownWhereOthersMayWriteFromOtherNodes) {
  for (const bool is_one_node : {true, false}) {
    Options options;
    options.are_writers_on_one_node = is_one_node;
    OutputFile file{opened(folder_.file("f")), folder_.file("f"), options};
    const PageAligned data{page};
    file.write(0, data.bytes());
    faults.buffered_error = ENOSPC;
    EXPECT_EQ(failure_of([&] { file.grow(10); }) == "nothing failed", is_one_node);
    faults = {};
  }
}

TEST_F(OutputFileWithFaults, WholeBlocksBetweenHeadAndTailPassThePageCache) {
  if (direct_calls_of_a_write() == 0) {
    GTEST_SKIP() << "the file system of " << folder_.path() << " refuses O_DIRECT";
  }
  const PageAligned data{10 * page};
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), direct_on()};
  file.write(7, data.part(7, 9 * page));
  EXPECT_EQ(file.direct_bytes(), 8 * page);
  EXPECT_EQ(file.buffered_bytes(), page);
  faults.block_bytes = 4 * page;
  OutputFile of_blocks{opened(folder_.file("g")), folder_.file("g"), direct_on()};
  of_blocks.write(page, data.bytes());
  EXPECT_EQ(of_blocks.direct_bytes(), 4 * page);
  faults.block_bytes = 1 << 20;  // what a file system likes, and no unit
  OutputFile of_network{opened(folder_.file("h")), folder_.file("h"), direct_on()};
  of_network.write(page, data.bytes());
  EXPECT_EQ(of_network.direct_bytes(), 10 * page);
}

TEST_F(OutputFileWithFaults, ThreadsWriteTheirShares) {
  Crew crew{{.threads = 3, .least_bytes = page, .grain_bytes = 1}};
  const PageAligned data{100 * page};
  Options options = direct_on();
  options.crew = &crew;
  options.direct_from_bytes = 3 * page;
  for (const std::size_t past : {std::size_t{0}, std::size_t{9}, page}) {
    const std::string name = folder_.file("f" + std::to_string(past));
    OutputFile file{opened(name), name, options};
    const auto part = data.part(past, 90 * page + 5);
    file.write_by_all(static_cast<std::int64_t>(past), part);
    const auto content = content_of(name);
    ASSERT_EQ(content.size(), past + part.size());
    EXPECT_TRUE(same(std::span{content}.subspan(past), part));
  }
}

TEST_F(OutputFileWithFaults, AWriteThatTakesNothingIsAnError) {
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), {}};
  const PageAligned data{page};
  faults.writes_nothing = true;
  EXPECT_EQ(failure_of([&] { file.write(0, data.bytes()); }),
            "writing 4096 bytes at offset 0 of " + file.path() + ": Input/output error");
}

TEST_F(OutputFileWithFaults, ADeviceThatKnowsNoSyncHasNothingToMakeDurable) {
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), {}};
  faults.sync_error = EINVAL;
  EXPECT_EQ(failure_of([&] { file.sync(); }), "nothing failed");
}

TEST_F(OutputFileWithFaults, TellsThatItCouldNotBeClosedOnlyWhereThatMatters) {
  log::configure(log::Level::error, "");
  const auto told_by = [&](int error, bool is_synced) {
    testing::internal::CaptureStderr();
    {
      OutputFile file{opened(folder_.file("f")), folder_.file("f"), {}};
      const PageAligned data{page};
      file.write(0, data.bytes());
      if (is_synced) {
        file.sync();
      }
      faults.close_error = error;
    }
    faults = {};
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(told_by(EDQUOT, false).find("which was not synced: Disk quota exceeded"),
            std::string::npos);
  EXPECT_EQ(told_by(EDQUOT, true), "");
  EXPECT_EQ(told_by(EINTR, false), "");
  EXPECT_EQ(told_by(0, false), "");
  log::configure(log::Level::silent, "");
}

TEST_F(OutputFileWithFaults, StartsTheFlushOfEveryEightMebibytes) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const PageAligned data{20 * mebibyte};
  Options options;
  options.direct = Direct::off;
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), options};
  file.write(0, data.bytes());
  EXPECT_EQ(faults.flushes, 2);
  for (std::size_t i = 0; i < 4; ++i) {
    file.write(static_cast<std::int64_t>((20 + i) * mebibyte), data.part(0, mebibyte));
  }
  EXPECT_EQ(faults.flushes, 3) << "small writes are gathered";
  EXPECT_EQ(faults.largest_pwrite_bytes, 8 * mebibyte);
}

TEST_F(OutputFileWithFaults, AsksForNoMoreThanARequestAtOnce) {
  const PageAligned data{20 * page};
  for (const Direct direct : {Direct::on, Direct::off}) {
    Options options;
    options.direct = direct;
    options.request_bytes = 3 * page + 17;
    OutputFile file{opened(folder_.file("f")), folder_.file("f"), options};
    file.write(0, data.bytes());
    EXPECT_LE(std::exchange(faults.largest_pwrite_bytes, 0), 3 * page + 17);
  }
}

}  // namespace
}  // namespace iocomp::disk
