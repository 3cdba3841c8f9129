// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/futex.h"
#include "client/tickets.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "trace/counters.h"
#include "writing/submit.h"

namespace iocomp::client {

/// The disk engine of this rank, and those who wait for its plans. One per session, for all files
/// that the rank writes itself without waiting.
class DiskPlans {
 public:
  DiskPlans(const disk::Options& disk, trace::Counters& counters);

  /// The way for writers of files to submit plans. They must not outlive this object.
  [[nodiscard]] writing::Submit submitter();
  /// Take the plans that have ended and call those who wait. @return true if there were any. Never
  /// waits.
  bool advance();
  /// Sleep until something ends, the word has changed, or `longest` has passed, but at least 20 us:
  /// to look more often takes the processor from the kernel's work on the plans.
  void sleep(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) {
    constexpr std::chrono::nanoseconds shortest = std::chrono::microseconds{20};
    engine_->wait(std::max(longest, shortest), word);
  }
  /// See disk::Engine::move. The copy is held as long as any plan may need it. @return false if
  /// none does.
  bool move(std::span<const std::byte> from, const Copy& to, std::size_t copied);
  [[nodiscard]] bool reads(std::span<const std::byte> memory) const {
    return engine_->reads(memory);
  }
  [[nodiscard]] disk::Moved moved() const { return engine_->moved(); }
  [[nodiscard]] std::string engine_name() const { return engine_->name(); }

 private:
  struct Underway {
    std::function<void(const disk::Completion&)> done;
    bool is_sync = false;
    std::vector<Copy> copies{};  // that it writes from
  };
  trace::Counters& counters_;
  std::unordered_map<std::uint64_t, Underway> underway_;
  std::uint64_t next_ = 1;
  std::unique_ptr<disk::Engine> engine_;  // last: it reads what is above
};

}  // namespace iocomp::client
