// SPDX-License-Identifier: BSD-3-Clause
#include "server/served_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "formats/registry.h"
#include "one_server.h"
#include "protocol/messages.h"
#include "trace/busy.h"
#include "trace/counters.h"
#include "unit/writing/fake_target.h"
#include "writing/piece.h"

namespace iocomp::server {
namespace {

class AServedFile : public OneServer {
 protected:
  using Strings = std::vector<std::string>;
  void arrive(int client, std::int64_t first, std::int64_t count) {
    const auto described = piece(client, 0, first, count);
    writing::Chunk chunk;
    chunk.piece = file_->begin(client, described, described.box);
    chunk.count = count;
    chunk.bytes = std::span{values_}.first(static_cast<std::size_t>(count));
    file_->arrived(std::move(chunk));
  }
  /// The seconds that are counted as writing until now, also where that has not ended.
  [[nodiscard]] double write_seconds() {
    context_.busy.begin(trace::Activity::commit, now_seconds());
    context_.busy.end(trace::Activity::commit, now_seconds());
    return context_.counters[trace::Counter::write_seconds];
  }
};

TEST_F(AServedFile, MakesDurableAtOnceWhatARankWaitsFor) {
  open();
  arrive(1, 0, 100);
  arrive(2, 200, 100);
  finish();
  EXPECT_EQ(told(1), (Strings{"1 written"}));
  EXPECT_EQ(told(2), (Strings{"2 written"}));
  file_->hurry(1, 0, true);
  finish();
  EXPECT_EQ(told(1), (Strings{"1 written", "1 durable"}));
  EXPECT_EQ(told(2), (Strings{"2 written", "2 durable"}));
}

TEST_F(AServedFile, MakesDurableWhenItIsWrittenWhatARankWaitsFor) {
  open();
  file_->hurry(1, 0, true);
  file_->hurry(2, 0, false);
  arrive(2, 200, 100);
  finish();
  EXPECT_EQ(told(2), (Strings{"1 written"}));
  arrive(1, 0, 100);
  finish();
  EXPECT_EQ(told(1), (Strings{"2 written", "2 durable"}));
}

TEST_F(AServedFile, CountsPiecesBytesAndFailures) {
  open();
  arrive(1, 0, 100);
  arrive(1, 200, 50);
  finish();
  EXPECT_EQ(context_.counters[trace::Counter::pieces], 2);
  EXPECT_EQ(context_.counters[trace::Counter::received_bytes], 150);
  EXPECT_EQ(context_.counters[trace::Counter::failures], 0);
  const auto described = piece(1, 0, 300, 10);
  const auto begun = file_->begin(1, described, described.box);
  file_->refuse(*begun, 10);
  file_->refuse(*begun, 10);
  EXPECT_EQ(context_.counters[trace::Counter::failures], 1);
}

/// It writes slowly.
class SlowTarget : public writing::FakeSharedTarget {
 public:
  SlowTarget(writing::Asked& asked, void (*sleep)()) : FakeSharedTarget{asked}, sleep_{sleep} {}
  void write(const formats::Placed& where, const formats::Selection& selection,
             std::span<const std::byte> bytes) override {
    sleep_();
    FakeSharedTarget::write(where, selection, bytes);
  }

 private:
  void (*sleep_)();
};

TEST_F(AServedFile, CountsTheTimeInWhichALibraryWritesAndNoOther) {
  open(formats::format("mpiio"));
  file_->writer().place({0, 0, 0, {}});
  file_->writer().files().writer(-1).file().created(std::make_unique<SlowTarget>(asked_, &sleep));
  EXPECT_FALSE(file_->write_slice());
  EXPECT_EQ(write_seconds(), 0);
  arrive(1, 0, 100);
  EXPECT_TRUE(file_->write_slice());
  const double written = write_seconds();
  EXPECT_GE(written, slow_seconds);
  sleep();
  EXPECT_EQ(write_seconds(), written);
  EXPECT_FALSE(file_->write_slice());
  EXPECT_EQ(asked_.writes.size(), 1U);
}

TEST_F(AServedFile, CountsTheTimeInWhichALibraryWritesAWholeStepAndNoOther) {
  open(whole_steps_);
  file_->act({.action = protocol::Action::create, .step = -1, .outcome = {}});
  EXPECT_EQ(write_seconds(), 0);
  file_->writer().place({0, 0, -1, {}});
  arrive(1, 0, 100);
  asked_.writes_step = &sleep;
  file_->act({.action = protocol::Action::flush, .step = -1, .outcome = {}});
  const double written = write_seconds();
  EXPECT_GE(written, slow_seconds);
  sleep();
  EXPECT_EQ(write_seconds(), written);
  EXPECT_EQ(asked_.steps, (std::vector<std::int64_t>{0}));
}

}  // namespace
}  // namespace iocomp::server
