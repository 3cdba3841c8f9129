// SPDX-License-Identifier: BSD-3-Clause
#include "disk/mixed_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/futex.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "engines.h"
#include "folder.h"
#include "page.h"

namespace iocomp::disk {
namespace {

/// Carries plans out at once, and keeps their memory as long as the test likes.
class Kernel : public Engine {
 public:
  struct Seen {
    std::vector<std::uint64_t> plans;
    bool meets_locks = false;  // the last one
    bool reads = false;
  };
  explicit Kernel(Seen& seen) : seen_{seen} {}

  void submit(Plan plan) override {
    seen_.plans.push_back(plan.id);
    seen_.meets_locks = plan.meets_locks;
    completions_.push_back(carry_out(plan));
  }
  std::vector<std::uint64_t> move(std::span<const std::byte> /*from*/, std::span<std::byte> /*to*/,
                                  std::size_t /*copied*/) override {
    return {};
  }
  bool reads(std::span<const std::byte> /*memory*/) override { return seen_.reads; }
  [[nodiscard]] Moved moved() const override { return {}; }
  std::vector<Completion> take_completed() override { return std::exchange(completions_, {}); }
  void wait(std::chrono::nanoseconds /*longest*/,
            const std::optional<FutexWord>& /*word*/) override {}
  [[nodiscard]] std::size_t outstanding() const override { return completions_.size(); }
  [[nodiscard]] std::string name() const override { return "kernel"; }

 private:
  Seen& seen_;
  std::vector<Completion> completions_;
};

class Mixed : public testing::Test {
 protected:
  void start(const Options& options) {
    engine_ = std::make_unique<MixedEngine>(std::make_unique<Kernel>(kernel_), options);
  }
  void submit(std::uint64_t id, std::size_t bytes) {
    engine_->submit(
        {.id = id, .file = file_, .writes = {{.offset = 0, .bytes = data_.part(0, bytes)}}});
  }
  void end() {
    for (const Completion& completion : wait_for_all(*engine_)) {
      EXPECT_EQ(completion.code, ErrorCode::ok) << completion.story;
    }
  }
  [[nodiscard]] bool kernel_has(std::uint64_t plan) const {
    return std::ranges::find(kernel_.plans, plan) != kernel_.plans.end();
  }

  Folder folder_;
  Kernel::Seen kernel_;
  PageAligned data_{8 * mib};
  PageAligned copy_{8 * mib, 2};
  std::shared_ptr<OutputFile> file_ =
      std::make_shared<OutputFile>(opened(folder_.file("f")), folder_.file("f"), Options{});
  std::unique_ptr<Engine> engine_;  // last: it reads what is above
};

TEST_F(Mixed, GivesTheKernelAllOfWhichNobodyWantsMemoryBack) {
  start({.workers = 2});
  submit(1, 8 * mib);
  end();
  EXPECT_TRUE(kernel_has(1));
}

TEST_F(Mixed, WritesTheFirstLongPlanByAThread) {
  start({.workers = 2, .gives_memory_back = true});
  submit(1, 8 * mib);
  submit(2, mib);
  EXPECT_TRUE(kernel_.meets_locks);
  end();
  submit(3, mib);
  EXPECT_FALSE(kernel_.meets_locks);
  end();
  EXPECT_EQ(kernel_.plans, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_TRUE(same(content_of(folder_.file("f")), data_.bytes()));
}

TEST_F(Mixed, GivesTheKernelLongPlansOnceMemoryIsLeft) {
  start({.workers = 2, .gives_memory_back = true});
  submit(1, 8 * mib);
  end();
  submit(2, 8 * mib);
  end();
  EXPECT_EQ(kernel_.plans, std::vector<std::uint64_t>{2});
}

TEST_F(Mixed, TakesThreadsForGoodOnceMemoryIsWantedThatTheKernelReads) {
  start({.workers = 2, .gives_memory_back = true});
  submit(1, 8 * mib);
  end();
  kernel_.reads = true;
  (void)engine_->move(data_.part(0, mib), copy_.bytes().first(mib), 0);  // too short to count
  submit(2, 8 * mib);
  (void)engine_->move(data_.bytes(), copy_.bytes(), 0);
  kernel_.reads = false;
  submit(3, 8 * mib);
  end();
  submit(4, 8 * mib);
  end();
  EXPECT_EQ(kernel_.plans, std::vector<std::uint64_t>{2});
}

TEST_F(Mixed, TakesThreadsForGoodWhereTheFirstLongPlanIsWantedBack) {
  start({.workers = 2, .gives_memory_back = true});
  kernel_.reads = true;
  submit(1, 8 * mib);
  (void)engine_->move(data_.bytes(), copy_.bytes(), 0);
  kernel_.reads = false;
  end();
  submit(2, 8 * mib);
  end();
  EXPECT_TRUE(kernel_.plans.empty());
}

}  // namespace
}  // namespace iocomp::disk
