// SPDX-License-Identifier: BSD-3-Clause
#include "disk/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "disk/thread_engine.h"
#include "engines.h"
#include "folder.h"

namespace iocomp::disk {
namespace {

using std::chrono::minutes;

class EveryEngine : public testing::TestWithParam<EngineKind> {
 protected:
  void SetUp() override {
    try {
      (void)start();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  static std::unique_ptr<Engine> start() { return start_engine({.engine = GetParam()}); }
};

INSTANTIATE_TEST_SUITE_P(Disk, EveryEngine, every_engine, engine_name);

Options with_threads(int threads) {
  Options options;
  options.threads = threads;
  options.direct_from_bytes = 4096;
  return options;
}

std::shared_ptr<OutputFile> open(const std::string& path) {
  return std::make_shared<OutputFile>(opened(path), path, Options{});
}

TEST_P(EveryEngine, HasNothingToReturnAtFirst) {
  const auto engine = start();
  EXPECT_TRUE(engine->take_completed().empty());
  EXPECT_EQ(engine->outstanding(), 0U);
}

TEST_P(EveryEngine, CarriesOutAPlan) {
  const Folder folder;
  const PageAligned data{10'000};
  const auto engine = start();
  engine->submit({.id = 42,
                  .file = open(folder.file("f")),
                  .writes = {{.offset = 0, .bytes = data.part(0, 7'000)},
                             {.offset = 7'000, .bytes = data.part(7'000, 3'000)}},
                  .sync = true});
  const auto completions = wait_for_all(*engine);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].id, 42U);
  EXPECT_EQ(completions[0].code, ErrorCode::ok) << completions[0].story;
  EXPECT_EQ(completions[0].story, "");
  EXPECT_GT(completions[0].seconds, 0);
  EXPECT_TRUE(same(content_of(folder.file("f")), data.bytes()));
}

TEST_P(EveryEngine, CarriesOutAnEmptyPlan) {
  const Folder folder;
  const auto engine = start();
  engine->submit({.id = 1, .file = open(folder.file("f")), .writes = {}});
  EXPECT_EQ(wait_for_all(*engine).size(), 1U);
}

TEST_P(EveryEngine, CountsPlansAsOutstandingUntilTheyAreTaken) {
  const Folder folder;
  const auto engine = start();
  engine->submit({.id = 1, .file = open(folder.file("f")), .writes = {}});
  engine->wait(minutes{1});
  EXPECT_EQ(engine->outstanding(), 1U);
  EXPECT_EQ(engine->take_completed().size(), 1U);
  EXPECT_EQ(engine->outstanding(), 0U);
}

TEST_P(EveryEngine, WaitsNoLongerThanItWasTold) {
  const auto engine = start();
  engine->wait(std::chrono::microseconds{1});
  engine->wait(std::chrono::nanoseconds{-1});
  EXPECT_TRUE(engine->take_completed().empty());
}

TEST_P(EveryEngine, WaitsAsLongAsTheClockCanTell) {
  const Folder folder;
  const auto engine = start();
  engine->submit({.id = 1, .file = open(folder.file("f")), .writes = {}});
  engine->wait(std::chrono::nanoseconds::max());
  EXPECT_EQ(engine->take_completed().size(), 1U);
}

TEST(ThreadEngine, WithOneThreadKeepsTheOrderOfSubmission) {
  const Folder folder;
  const PageAligned data{100};
  ThreadEngine engine{with_threads(1)};
  const auto file = open(folder.file("f"));
  for (std::uint64_t id = 0; id < 100; ++id) {
    engine.submit({.id = id, .file = file, .writes = {{.offset = 0, .bytes = data.part(id, 1)}}});
  }
  const auto completions = wait_for_all(engine);
  ASSERT_EQ(completions.size(), 100U);
  for (std::uint64_t id = 0; id < 100; ++id) {
    EXPECT_EQ(completions[id].id, id);
  }
  EXPECT_TRUE(same(content_of(file->path()), data.part(99, 1)));
}

TEST(ThreadEngine, WithSeveralThreadsCarriesOutEveryPlanOnce) {
  const Folder folder;
  constexpr std::size_t part_bytes = 10'007;
  constexpr std::size_t parts = 200;
  const PageAligned data{part_bytes * parts};
  ThreadEngine engine{with_threads(4)};
  const auto file = open(folder.file("f"));
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * part_bytes;
    engine.submit({.id = part,
                   .file = file,
                   .writes = {{.offset = static_cast<std::int64_t>(first),
                               .bytes = data.part(first, part_bytes)}},
                   .sync = part % 50 == 0});
  }
  std::vector<std::uint64_t> ids;
  for (const Completion& completion : wait_for_all(engine)) {
    EXPECT_EQ(completion.code, ErrorCode::ok) << completion.story;
    ids.push_back(completion.id);
  }
  std::ranges::sort(ids);
  std::vector<std::uint64_t> expected(parts);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(ids, expected);
  EXPECT_TRUE(same(content_of(file->path()), data.bytes()));
}

TEST_P(EveryEngine, TellsWhyAPlanFailedAndGoesOnWithTheNext) {
  const Folder folder;
  const PageAligned data{512};
  const auto engine = start();
  const auto full = open("/dev/full");
  const auto good = open(folder.file("f"));
  engine->submit({.id = 1, .file = full, .writes = {{.offset = 8, .bytes = data.bytes()}}});
  engine->submit({.id = 2, .file = good, .writes = {{.offset = 0, .bytes = data.bytes()}}});
  const auto completions = wait_for_all(*engine);
  ASSERT_EQ(completions.size(), 2U);
  EXPECT_EQ(completions[0].id, 1U);
  EXPECT_EQ(completions[0].code, ErrorCode::storage_failure);
  EXPECT_EQ(completions[0].story,
            "writing 512 bytes at offset 8 of /dev/full: No space left on device");
  EXPECT_EQ(completions[1].code, ErrorCode::ok);
  EXPECT_TRUE(same(content_of(good->path()), data.bytes()));
}

TEST_P(EveryEngine, HasLetGoOfAFileWhenItsCompletionIsSeen) {
  const Folder folder;
  const auto engine = start();
  auto file = open(folder.file("f"));
  const std::weak_ptr<OutputFile> watched = file;
  engine->submit({.id = 1, .file = std::move(file), .writes = {}});
  EXPECT_EQ(wait_for_all(*engine).size(), 1U);
  EXPECT_TRUE(watched.expired());
}

TEST(ThreadEngine, CarriesOutWhatWasSubmittedBeforeItEnds) {
  const Folder folder;
  const PageAligned data{100'000};
  const auto file = open(folder.file("f"));
  for (const int threads : {0, 1, 3}) {
    ThreadEngine engine{with_threads(threads)};
    for (std::size_t first = 0; first < data.bytes().size(); first += 1'000) {
      engine.submit({.id = first,
                     .file = file,
                     .writes = {{.offset = static_cast<std::int64_t>(first),
                                 .bytes = data.part(first, 1'000)}}});
    }
  }
  EXPECT_TRUE(same(content_of(file->path()), data.bytes()));
  EXPECT_EQ(file.use_count(), 1);
}

TEST_P(EveryEngine, CarriesOutWhatWasSubmittedBeforeItEnds) {
  const Folder folder;
  const PageAligned data{100'000};
  const auto file = open(folder.file("f"));
  {
    const auto engine = start();
    for (std::size_t first = 0; first < data.bytes().size(); first += 1'000) {
      engine->submit({.id = first,
                      .file = file,
                      .writes = {{.offset = static_cast<std::int64_t>(first),
                                  .bytes = data.part(first, 1'000)}},
                      .sync = first % 10'000 == 0});
    }
  }
  EXPECT_TRUE(same(content_of(file->path()), data.bytes()));
  EXPECT_EQ(file.use_count(), 1);
}

TEST(CarryOut, DoesThePlanInTheCallingThread) {
  const Folder folder;
  const PageAligned data{5'000};
  const Completion good = carry_out({.id = 7,
                                     .file = open(folder.file("f")),
                                     .writes = {{.offset = 0, .bytes = data.bytes()}},
                                     .sync = true});
  EXPECT_EQ(good.id, 7U);
  EXPECT_EQ(good.code, ErrorCode::ok);
  EXPECT_TRUE(same(content_of(folder.file("f")), data.bytes()));
  const Completion bad = carry_out(
      {.id = 8, .file = open("/dev/full"), .writes = {{.offset = 0, .bytes = data.bytes()}}});
  EXPECT_EQ(bad.id, 8U);
  EXPECT_EQ(bad.code, ErrorCode::storage_failure);
}

}  // namespace
}  // namespace iocomp::disk
