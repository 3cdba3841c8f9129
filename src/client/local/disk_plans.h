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

/// The disk engine of this rank, and who waits for the plans that it has under way. One per
/// session, for all files that the rank writes itself without waiting.
class DiskPlans {
 public:
  DiskPlans(const disk::Options& disk, trace::Counters& counters);

  /// For writers of files, which must not outlive this.
  [[nodiscard]] writing::Submit submitter();
  /// Take what has ended and call whom it concerns; true if there was anything. Never waits.
  bool advance();
  /// Sleep until something ends, the word has changed, or `longest` has passed; not less than
  /// 20 us: who looks more often takes the processor from what the kernel does for the plans.
  void sleep(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) {
    constexpr std::chrono::nanoseconds shortest = std::chrono::microseconds{20};
    engine_->wait(std::max(longest, shortest), word);
  }
  /// See disk::Engine::move. The copy is held as long as any plan may need it; false: none does.
  bool move(std::span<const std::byte> from, const Copy& to);
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
