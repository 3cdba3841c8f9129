#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "disk/output_file.h"

namespace iocomp::disk {

/// One contiguous write of a plan. `bytes` stay valid until the plan is completed.
struct Write {
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// What the engine shall do with one file: some writes, then, if asked, an fsync.
struct Plan {
  std::uint64_t id = 0;  ///< chosen by the caller, returned with the completion
  std::shared_ptr<OutputFile> file;
  std::vector<Write> writes;
  bool sync = false;
};

/// A plan that was carried out, or failed: then `code` is not `ok` and `story` says why.
struct Completion {
  std::uint64_t id = 0;
  ErrorCode code = ErrorCode::ok;
  std::string story;
  double seconds = 0;  ///< spent writing or syncing
};

/// Carries out plans with threads of its own, which do file I/O and nothing else (never MPI). Plans
/// are started in the order of submission; with several threads they may end in any order. Whoever
/// needs an fsync to cover certain writes submits it after their completions have come.
class Engine {
 public:
  explicit Engine(const Options& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  /// Carries out what was submitted, then stops the threads.
  ~Engine();

  void submit(Plan plan);

  /// Completions since the last call; never waits.
  [[nodiscard]] std::vector<Completion> take_completed();

  /// Sleep until a completion is there or `longest` has passed, whichever is first.
  void wait_for_completion(std::chrono::nanoseconds longest);

  /// Plans submitted and not yet returned by `take_completed`.
  [[nodiscard]] std::size_t outstanding() const;

 private:
  void work();

  Options options_;
  mutable std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable completed_;
  std::deque<Plan> queue_;  // guarded by mutex_, like the rest
  std::vector<Completion> completions_;
  std::size_t outstanding_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

/// Carry out a plan in the calling thread: the same writes, by the same code, with no engine.
[[nodiscard]] Completion carry_out(const Plan& plan) noexcept;

}  // namespace iocomp::disk
