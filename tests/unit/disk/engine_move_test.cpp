// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "disk/pace.h"
#include "engines.h"
#include "folder.h"
#include "page.h"

namespace iocomp::disk {
namespace {

std::shared_ptr<OutputFile> file_at(const std::string& path, const Options& options) {
  return std::make_shared<OutputFile>(opened(path), path, options);
}

// Memory that is still read when it is let go of is overwritten, and so found in the file.
void spoil(std::span<std::byte> memory) { std::ranges::fill(memory, std::byte{0xEE}); }

void wait_until_not_read(Engine& engine, std::span<const std::byte> memory) {
  while (engine.reads(memory)) {
    engine.wait(std::chrono::minutes{1});
  }
}

// Many short requests of which few are written at the same time, so that most can be moved.
class Moving : public testing::TestWithParam<EngineKind> {
 protected:
  static constexpr std::size_t plans = 8;
  static constexpr std::size_t plan_bytes = 4 * mib;

  void SetUp() override {
    try {
      engine_ = start_engine({.engine = GetParam(), .workers = 1, .gives_memory_back = true});
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  static Options options() {
    Options options;
    options.request_bytes = mib;
    return options;
  }

  // Each plan writes two halves of its part.
  void submit(const std::shared_ptr<OutputFile>& file, const PageAligned& data) {
    for (std::size_t plan = 0; plan < plans; ++plan) {
      const std::size_t first = plan * plan_bytes;
      engine_->submit({.id = next_++,
                       .file = file,
                       .writes = {{.offset = static_cast<std::int64_t>(first),
                                   .bytes = data.part(first, plan_bytes / 2)},
                                  {.offset = static_cast<std::int64_t>(first + plan_bytes / 2),
                                   .bytes = data.part(first + plan_bytes / 2, plan_bytes / 2)}}});
    }
  }

  void expect_all_well(std::size_t count) {
    const auto completions = wait_for_all(*engine_);
    EXPECT_EQ(completions.size(), count);
    for (const Completion& completion : completions) {
      EXPECT_EQ(completion.code, ErrorCode::ok) << completion.story;
    }
  }

  Folder folder_;
  std::uint64_t next_ = 0;
  PageAligned data_{plans * plan_bytes};
  PageAligned copy_{plans * plan_bytes, 2};
  std::vector<std::byte> expected_{data_.bytes().begin(), data_.bytes().end()};
  std::unique_ptr<Engine> engine_;  // last: it reads what is above
};

INSTANTIATE_TEST_SUITE_P(Disk, Moving,
                         testing::Values(EngineKind::uring, EngineKind::threads,
                                         EngineKind::automatic),
                         engine_name);

TEST_P(Moving, LetsGoOfMemoryThatIsBeingWritten) {
  submit(file_at(folder_.file("f"), options()), data_);
  (void)engine_->move(data_.bytes(), copy_.bytes(), 0);
  wait_until_not_read(*engine_, data_.bytes());
  EXPECT_LE(engine_->moved().bytes, data_.bytes().size());
  spoil(data_.bytes());
  expect_all_well(plans);
  EXPECT_FALSE(engine_->reads(copy_.bytes()));
  EXPECT_TRUE(same(content_of(folder_.file("f")), expected_));
}

// The disk may be faster than this thread is called again, but not each time.
TEST_P(Moving, CopiesTheRestOfAPlanThatHasBegun) {
  constexpr std::size_t tries = 50;
  std::size_t tried = 0;
  std::size_t most = 0;
  for (; tried < tries && most < data_.bytes().size() / 2; ++tried) {
    const std::size_t before = engine_->moved().bytes;
    const auto file = file_at(folder_.file("f"), options());
    engine_->submit({.id = 0, .file = file, .writes = {{.offset = 0, .bytes = data_.bytes()}}});
    (void)engine_->move(data_.bytes(), copy_.bytes(), 0);
    wait_until_not_read(*engine_, data_.bytes());
    spoil(data_.bytes());
    most = std::max(most, engine_->moved().bytes - before);
    expect_all_well(1);
    ASSERT_TRUE(same(content_of(folder_.file("f")), expected_));
    std::ranges::copy(expected_, data_.bytes().begin());
  }
  EXPECT_LT(tried, tries) << "at most " << most << " bytes were moved";
  EXPECT_GT(engine_->moved().seconds, 0);
}

TEST_P(Moving, NamesThePlansThatReadTheCopy) {
  submit(file_at(folder_.file("f"), options()), data_);
  const auto last = data_.bytes().last(plan_bytes);
  for (const std::uint64_t plan : engine_->move(last, copy_.bytes().first(plan_bytes), 0)) {
    EXPECT_EQ(plan, plans - 1);
  }
  wait_until_not_read(*engine_, last);
  spoil(last);
  expect_all_well(plans);
  EXPECT_TRUE(same(content_of(folder_.file("f")), expected_));
}

TEST_P(Moving, MovesAllPlansOfSeveralFilesFromTheSameMemory) {
  submit(file_at(folder_.file("f"), options()), data_);
  submit(file_at(folder_.file("g"), options()), data_);
  (void)engine_->move(data_.bytes(), copy_.bytes(), 0);
  wait_until_not_read(*engine_, data_.bytes());
  spoil(data_.bytes());
  expect_all_well(2 * plans);
  EXPECT_TRUE(same(content_of(folder_.file("f")), expected_));
  EXPECT_TRUE(same(content_of(folder_.file("g")), expected_));
}

TEST_P(Moving, MovesTwice) {
  PageAligned other{plans * plan_bytes, 3};
  submit(file_at(folder_.file("f"), options()), data_);
  (void)engine_->move(data_.bytes(), copy_.bytes(), 0);
  (void)engine_->move(data_.bytes(), other.bytes(), 0);
  (void)engine_->move(copy_.bytes(), other.bytes(), 0);
  wait_until_not_read(*engine_, data_.bytes());
  spoil(data_.bytes());
  wait_until_not_read(*engine_, copy_.bytes());
  spoil(copy_.bytes());
  expect_all_well(plans);
  EXPECT_TRUE(same(content_of(folder_.file("f")), expected_));
}

TEST_P(Moving, FindsNothingWhereNothingIsRead) {
  EXPECT_TRUE(engine_->move(data_.bytes(), copy_.bytes(), 0).empty());
  EXPECT_FALSE(engine_->reads(data_.bytes()));
  submit(file_at(folder_.file("f"), options()), data_);
  PageAligned others{plan_bytes, 4};
  EXPECT_FALSE(engine_->reads(others.bytes()));
  EXPECT_TRUE(engine_->move(others.bytes(), copy_.bytes().first(plan_bytes), 0).empty());
  expect_all_well(plans);
  EXPECT_TRUE(engine_->move(data_.bytes(), copy_.bytes(), 0).empty());
  EXPECT_EQ(engine_->moved().bytes, 0U);
  EXPECT_TRUE(same(content_of(folder_.file("f")), expected_));
}

TEST_P(Moving, LeavesWritesAloneThatOnlyBeginInTheMemory) {
  submit(file_at(folder_.file("f"), options()), data_);
  (void)engine_->move(data_.bytes().first(4096), copy_.bytes().first(4096), 0);
  wait_until_not_read(*engine_, data_.bytes().first(4096));
  expect_all_well(plans);
  EXPECT_TRUE(same(content_of(folder_.file("f")), expected_));
}

TEST_P(Moving, TellsThatAPlanFailedWhichWasMoved) {
  submit(file_at("/dev/full", options()), data_);
  const auto good = file_at(folder_.file("f"), options());
  submit(good, data_);
  (void)engine_->move(data_.bytes(), copy_.bytes(), 0);
  wait_until_not_read(*engine_, data_.bytes());
  spoil(data_.bytes());
  const auto completions = wait_for_all(*engine_);
  ASSERT_EQ(completions.size(), 2 * plans);
  for (const Completion& completion : completions) {
    EXPECT_EQ(completion.code == ErrorCode::ok, completion.id >= plans) << completion.story;
  }
  EXPECT_FALSE(engine_->reads(copy_.bytes()));
  EXPECT_TRUE(same(content_of(good->path()), expected_));
}

TEST_P(Moving, LetsGoOfWhatAPaceHoldsUp) {
  Options slow = options();
  slow.pace = std::make_shared<Pace>(8.0 * mib);
  const auto file = file_at(folder_.file("f"), slow);
  const auto part = data_.bytes().first(plan_bytes);
  engine_->submit({.id = 0, .file = file, .writes = {{.offset = 0, .bytes = part}}});
  EXPECT_EQ(engine_->move(part, copy_.bytes().first(plan_bytes), 0), std::vector<std::uint64_t>{0});
  wait_until_not_read(*engine_, part);
  spoil(part);
  EXPECT_EQ(engine_->outstanding(), 1U);
  EXPECT_TRUE(engine_->take_completed().empty()) << "waited for the disk";
  expect_all_well(1);
  EXPECT_TRUE(same(content_of(folder_.file("f")), std::span{expected_}.first(plan_bytes)));
  EXPECT_GT(engine_->moved().bytes, 0U);
}

// The copy differs from the memory, which shows where the file has each byte from.
TEST_P(Moving, DoesNotCopyWhatIsThereAlready) {
  Options slow = options();
  slow.pace = std::make_shared<Pace>(8.0 * mib);
  const auto file = file_at(folder_.file("f"), slow);
  const auto part = data_.bytes().first(plan_bytes);
  const auto copy = copy_.bytes().first(plan_bytes);
  constexpr std::size_t there = plan_bytes / 4 * 3 + 12345;
  std::ranges::fill(copy.first(there), std::byte{0x11});
  engine_->submit({.id = 0, .file = file, .writes = {{.offset = 0, .bytes = part}}});
  EXPECT_FALSE(engine_->move(part, copy, there).empty());
  expect_all_well(1);
  const auto content = content_of(folder_.file("f"));
  ASSERT_EQ(content.size(), plan_bytes);
  const auto begun =
      static_cast<std::size_t>(std::ranges::mismatch(content, expected_).in1 - content.begin());
  EXPECT_LT(begun, there);
  EXPECT_TRUE(std::ranges::all_of(std::span{content}.first(there).subspan(begun),
                                  [](std::byte byte) { return byte == std::byte{0x11}; }));
  EXPECT_TRUE(same(std::span{content}.subspan(there),
                   std::span{expected_}.first(plan_bytes).subspan(there)));
}

}  // namespace
}  // namespace iocomp::disk
