// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/futex.h"
#include "disk/engine.h"
#include "engines.h"
#include "folder.h"

namespace iocomp::disk {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using Clock = std::chrono::steady_clock;

// Shorter than any wait that missed its reason, longer than a busy machine is late.
constexpr std::chrono::seconds soon{20};

class WaitingEngine : public WithEngine {
 protected:
  void SetUp() override {
    WithEngine::SetUp();
    if (IsSkipped()) {
      return;
    }
    void* page = ::mmap(nullptr, sizeof(std::atomic<std::uint32_t>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    word_ = new (page) std::atomic<std::uint32_t>{0};
  }
  ~WaitingEngine() override {
    if (word_ != nullptr) {
      ::munmap(word_, sizeof *word_);
    }
  }
  void ring_the_bell() const {
    word_->fetch_add(1);
    futex_wake(*word_);
  }
  [[nodiscard]] FutexWord bell() const { return {.word = word_, .seen = *word_}; }

  std::atomic<std::uint32_t>* word_ = nullptr;
};

TEST_P(WaitingEngine, ReturnsAtOnceWhenTheWordHasChanged) {
  const FutexWord before = bell();
  ring_the_bell();
  const auto begin = Clock::now();
  engine_->wait(minutes{5}, before);
  EXPECT_LT(Clock::now() - begin, soon);
}

TEST_P(WaitingEngine, IsWokenByAnotherThread) {
  for (int i = 0; i < 50; ++i) {
    const FutexWord before = bell();
    const auto begin = Clock::now();
    const std::jthread other{[&] {
      std::this_thread::sleep_for(std::chrono::microseconds{i * 20});
      ring_the_bell();
    }};
    while (!before.has_changed()) {
      engine_->wait(minutes{5}, before);
    }
    ASSERT_LT(Clock::now() - begin, soon);
  }
}

TEST_P(WaitingEngine, IsWokenByAnotherProcess) {
  const FutexWord before = bell();
  const pid_t child = ::fork();
  if (child == 0) {
    ::usleep(20'000);
    ring_the_bell();
    ::_exit(0);
  }
  const auto begin = Clock::now();
  while (!before.has_changed()) {
    engine_->wait(minutes{5}, before);
  }
  EXPECT_LT(Clock::now() - begin, soon);
  ::waitpid(child, nullptr, 0);
}

TEST_P(WaitingEngine, SleepsUntilItsTimeIsOver) {
  const auto begin = Clock::now();
  engine_->wait(milliseconds{30}, bell());
  EXPECT_GE(Clock::now() - begin, milliseconds{30});
  EXPECT_LT(Clock::now() - begin, soon);
  engine_->wait(std::chrono::nanoseconds{0}, bell());
  engine_->wait(std::chrono::nanoseconds{-1}, bell());
}

TEST_P(WaitingEngine, LeavesNoSleeperBehindAtTheWord) {
  engine_->wait(milliseconds{2}, bell());
  EXPECT_EQ(::syscall(SYS_futex, word_, FUTEX_WAKE, 1, nullptr, nullptr, 0), 0);
}

TEST_P(WaitingEngine, ReturnsForACompletionAlthoughTheWordStays) {
  const Folder folder;
  const PageAligned data{std::size_t{8} << 20};
  const auto file =
      std::make_shared<OutputFile>(opened(folder.file("f")), folder.file("f"), Options{});
  const auto begin = Clock::now();
  for (std::uint64_t id = 0; id < 10; ++id) {
    engine_->submit({.id = id, .file = file, .writes = {{.offset = 0, .bytes = data.bytes()}}});
    engine_->wait(std::chrono::nanoseconds::max(), bell());
    EXPECT_EQ(engine_->take_completed().size(), 1U);
  }
  EXPECT_LT(Clock::now() - begin, soon);
}

INSTANTIATE_TEST_SUITE_P(Disk, WaitingEngine, every_engine, engine_name);

}  // namespace
}  // namespace iocomp::disk
