// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/futex.h"
#include "disk/engine.h"
#include "disk/flush_window.h"
#include "disk/move.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "disk/ring.h"

namespace iocomp::disk {

/// Has plans carried out by the kernel (io_uring). It takes no thread of ours, and no time of the
/// caller but for asking and for small plans, which are written at once. Requests in the kernel's
/// hands go on by themselves. Later ones (more than `requests_in_flight` requests, the fsync of a
/// plan) are asked for in the next call of the owner.
class RingEngine : public Engine {
 public:
  static constexpr unsigned requests_in_flight = 256;

  /// @param workers  see Options.
  /// @throws Error{unsupported} saying why this process cannot have an io_uring.
  explicit RingEngine(unsigned workers = 0);
  ~RingEngine() override;

  void submit(Plan plan) override;
  [[nodiscard]] std::vector<std::uint64_t> move(std::span<const std::byte> from,
                                                std::span<std::byte> to,
                                                std::size_t copied) override;
  [[nodiscard]] bool reads(std::span<const std::byte> memory) override;
  [[nodiscard]] Moved moved() const override { return moved_; }
  [[nodiscard]] std::vector<Completion> take_completed() override;
  void wait(std::chrono::nanoseconds longest,
            const std::optional<FutexWord>& word = std::nullopt) override;
  [[nodiscard]] std::size_t outstanding() const override { return outstanding_; }
  [[nodiscard]] std::string name() const override { return "io_uring"; }

 private:
  // A plan on its way.
  struct Task {
    Plan plan;
    double began = 0;
    bool is_small = false;       // written by the caller instead of the kernel's workers
    std::size_t next_write = 0;  // of the plan
    const Write* write = nullptr;
    Remaining remaining;  // what is left of *write
    bool is_cut = false;
    bool is_synced = false;  // or the fsync is asked for
    std::size_t open = 0;    // requests without an answer
    Completion completion;
    std::list<Task>::iterator self;
  };
  // A request that is asked for, or that waits for room.
  struct Job {
    enum class Kind { write, sync, flush };
    Kind kind = Kind::write;
    Task* task = nullptr;
    const Write* write = nullptr;
    Request request{};
    std::byte* moves_to = nullptr;  // where its bytes shall be read if it is asked for once more
    FileRange range{};              // to flush
    bool flushes_after = false;     // asked for together with the write
    int tries = 0;
    [[nodiscard]] bool reads(std::span<const std::byte> memory) const noexcept {
      return task != nullptr && kind == Kind::write && overlap(request.bytes, memory);
    }
  };

  void advance();
  void look();
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] bool cut(Task& task);
  [[nodiscard]] static bool find_next(Task& task);
  [[nodiscard]] bool write_small(Task& task);
  void ask_next(Task& task, const Request& request);
  void ask(Job job);
  void ask_write(Job job);
  [[nodiscard]] std::uint64_t keep(const Job& job);
  void answered(const Job& job, std::int64_t result);
  void answered_write(const Job& job, std::int64_t result);
  void outlive_caller();
  void ask_again(Job job, const Request& rest);
  void settle(Task& task);
  static void fail(Task& task, std::string story);

  std::list<Task> tasks_;
  std::deque<Task*> uncut_;  // in the order of submission; the first is being cut into requests
  std::deque<Job> again_;    // what comes after something else; before anything new
  std::vector<Job> jobs_;    // by tag; without a task: none
  std::vector<std::uint64_t> free_tags_;
  std::vector<RingAnswer> answers_;
  std::vector<Completion> completions_;
  std::size_t outstanding_ = 0;
  Moved moved_;
  bool has_let_go_ = false;  // of memory that was moved
  std::size_t locking_ = 0;  // requests in the kernel's hands that hold locks of files
  Ring ring_;                // last: it ends first
};

}  // namespace iocomp::disk
