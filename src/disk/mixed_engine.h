// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/futex.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/pace.h"

namespace iocomp::disk {

/// An engine, and threads beside it for what it is not good at:
/// - A file that is written at a limited rate has a thread, which sleeps until the file's pace lets
///   the next slice through.
/// - Where memory may be wanted back, a thread carries out long plans, one request after the other.
///   The kernel passes a whole plan on to the disk at once, and then nothing of it can be moved. If
///   the first long plan ends before its memory is wanted, the kernel gets the next ones, up to the
///   first of which memory is wanted that it still reads.
///
/// Everything else, and all fsyncs, go to the engine.
class MixedEngine : public Engine {
 public:
  MixedEngine(std::unique_ptr<Engine> engine, Options options);

  void submit(Plan plan) override;
  [[nodiscard]] std::vector<std::uint64_t> move(std::span<const std::byte> from,
                                                std::span<std::byte> to,
                                                std::size_t copied) override;
  [[nodiscard]] bool reads(std::span<const std::byte> memory) override;
  [[nodiscard]] Moved moved() const override;
  [[nodiscard]] std::vector<Completion> take_completed() override;
  void wait(std::chrono::nanoseconds longest,
            const std::optional<FutexWord>& word = std::nullopt) override;
  [[nodiscard]] std::size_t outstanding() const override;
  [[nodiscard]] std::string name() const override { return engine_->name(); }

 private:
  [[nodiscard]] Engine& engine_for(const Plan& plan);
  [[nodiscard]] std::size_t threads_outstanding() const;
  [[nodiscard]] Engine& thread_for(const std::shared_ptr<const Pace>& pace);

  /// The behaviour of those who gave memory for long plans.
  enum class Habit { unknown, leaves_memory, wants_memory };

  Options options_;
  std::unique_ptr<Engine> engine_;
  std::map<std::shared_ptr<const Pace>, std::unique_ptr<Engine>> threads_;  // null: no pace
  Habit habit_ = Habit::unknown;
  Moved moved_;  // by threads that have ended
};

}  // namespace iocomp::disk
