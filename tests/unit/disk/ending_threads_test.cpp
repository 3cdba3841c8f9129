// SPDX-License-Identifier: BSD-3-Clause
// Each call comes from a thread that ends with it. The kernel cancels what such a thread has asked
// for, and all of it has to be carried out nevertheless.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "disk/engine.h"
#include "engines.h"
#include "folder.h"

namespace iocomp::disk {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::size_t blocks = 8;

template <typename Call>
void in_thread(Call call) {
  std::thread{call}.join();
}

class EndingThreads : public WithEngine {
 protected:
  // One plan for each block, the last with an fsync.
  void submit(const std::shared_ptr<OutputFile>& file, const PageAligned& data) {
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::size_t begin = block * block_bytes;
      in_thread([&] {
        engine_->submit({.id = block,
                         .file = file,
                         .writes = {{.offset = static_cast<std::int64_t>(begin),
                                     .bytes = data.part(begin, block_bytes)}},
                         .sync = block + 1 == blocks});
      });
    }
  }

  std::vector<Completion> take() {
    std::vector<Completion> taken;
    in_thread([&] { taken = engine_->take_completed(); });
    return taken;
  }
};

INSTANTIATE_TEST_SUITE_P(Disk, EndingThreads, every_engine, engine_name);

void expect_all(const std::vector<Completion>& completions) {
  EXPECT_EQ(completions.size(), blocks);
  for (const Completion& completion : completions) {
    EXPECT_EQ(completion.code, ErrorCode::ok) << completion.story;
  }
}

TEST_P(EndingThreads, LoseNothingThatOthersWaitFor) {
  const Folder folder;
  const PageAligned data{blocks * block_bytes};
  for (const Direct direct : {Direct::on, Direct::off}) {
    const std::string path = folder.file(direct == Direct::on ? "direct" : "buffered");
    submit(std::make_shared<OutputFile>(opened(path), path, Options{.direct = direct}), data);
    std::vector<Completion> all;
    while (engine_->outstanding() > 0) {
      in_thread([&] { engine_->wait(std::chrono::minutes{1}); });
      std::ranges::move(take(), std::back_inserter(all));
    }
    expect_all(all);
    EXPECT_TRUE(same(content_of(path), data.bytes()));
  }
}

// Nobody stays in a call for as long as a write takes.
TEST_P(EndingThreads, LoseNothingThatOthersLookFor) {
  const Folder folder;
  const PageAligned data{blocks * block_bytes};
  submit(std::make_shared<OutputFile>(opened(folder.file("f")), folder.file("f"), Options{}), data);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  std::vector<Completion> all;
  while (engine_->outstanding() > 0 && std::chrono::steady_clock::now() < end) {
    std::ranges::move(take(), std::back_inserter(all));
  }
  expect_all(all);
  EXPECT_TRUE(same(content_of(folder.file("f")), data.bytes()));
}

TEST_P(EndingThreads, LoseNothingWhereTheEngineEnds) {
  const Folder folder;
  const PageAligned data{blocks * block_bytes};
  submit(std::make_shared<OutputFile>(opened(folder.file("f")), folder.file("f"), Options{}), data);
  engine_.reset();
  EXPECT_TRUE(same(content_of(folder.file("f")), data.bytes()));
}

// The kernel answers a thread when that thread enters it: this one never does.
TEST_P(EndingThreads, NeedNotEndForOthersToSeeTheAnswers) {
  const Folder folder;
  const PageAligned data{blocks * block_bytes};
  const auto file =
      std::make_shared<OutputFile>(opened(folder.file("f")), folder.file("f"), Options{});
  std::atomic<bool> has_asked{false};
  std::atomic<bool> is_over{false};
  std::jthread busy{[&] {
    engine_->submit(
        {.id = 0, .file = file, .writes = {{.offset = 0, .bytes = data.bytes()}}, .sync = true});
    has_asked = true;
    while (!is_over) {
    }
  }};
  while (!has_asked) {
    std::this_thread::yield();
  }
  const auto completions = wait_for_all(*engine_);
  is_over = true;
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].code, ErrorCode::ok) << completions[0].story;
  EXPECT_TRUE(same(content_of(folder.file("f")), data.bytes()));
}

}  // namespace
}  // namespace iocomp::disk
