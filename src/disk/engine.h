// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/futex.h"
#include "disk/options.h"
#include "disk/output_file.h"

namespace iocomp::disk {

/// One contiguous write of a plan. `bytes` stay valid until the plan is completed.
struct Write {
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// Work of the engine on one file: some writes, then, if asked, an fsync.
struct Plan {
  std::uint64_t id = 0;  ///< chosen by the caller, returned with the completion
  std::shared_ptr<OutputFile> file;
  std::vector<Write> writes;
  bool sync = false;
  bool meets_locks = false;  ///< another thread writes to files, whose locks the caller would meet
};

/// A plan that was carried out, or failed: then `code` is not `ok` and `story` says why.
struct Completion {
  std::uint64_t id = 0;
  ErrorCode code = ErrorCode::ok;
  std::string story;
  double seconds = 0;  ///< spent writing or syncing
};

/// The total of bytes copied so that the memory given to plans could be released early.
struct Moved {
  std::size_t bytes = 0;
  double seconds = 0;
};

/// Carries out plans while its owner does something else; file I/O and nothing else, never MPI.
/// Plans are started in the order of submission and may end in any order. An fsync covers certain
/// writes if it is submitted after their completions have come. Used by one thread.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  /// Carries out what was submitted, then ends.
  virtual ~Engine() = default;

  virtual void submit(Plan plan) = 0;

  /// Stop reading `from` as soon as can be: what of it nobody has begun to write is copied to the
  /// same place of `to`, and written from there. Never waits: see `reads`.
  /// @param to  as long, and at the same distance from the border of a page.
  /// @param copied  so many bytes at its front are there already.
  /// @return the plans that may read `to` from now on.
  [[nodiscard]] virtual std::vector<std::uint64_t> move(std::span<const std::byte> from,
                                                        std::span<std::byte> to,
                                                        std::size_t copied) = 0;
  /// True while a plan may read some of this memory.
  [[nodiscard]] virtual bool reads(std::span<const std::byte> memory) = 0;
  [[nodiscard]] virtual Moved moved() const = 0;

  /// Completions since the last call; never waits.
  [[nodiscard]] virtual std::vector<Completion> take_completed() = 0;

  /// Sleep until a completion is there, memory that was to move is let go of, the word (if any) has
  /// changed, or `longest` has passed, whichever is first. May return early.
  virtual void wait(std::chrono::nanoseconds longest,
                    const std::optional<FutexWord>& word = std::nullopt) = 0;

  /// Plans submitted and not yet returned by `take_completed`.
  [[nodiscard]] virtual std::size_t outstanding() const = 0;

  /// "io_uring" or "threads"; with the reason where it is not what was hoped for: "threads
  /// (io_uring: Operation not permitted)".
  [[nodiscard]] virtual std::string name() const = 0;

 protected:
  /// Sleep until all plans have ended, and say once that it takes long. Nobody may return before
  /// that: the kernel reads memory that would be gone.
  void finish();
};

/// The engine that the options ask for, or that this process can have.
/// @throws Error{unsupported} when io_uring is asked for and cannot be set up, with the reason.
[[nodiscard]] std::unique_ptr<Engine> start_engine(const Options& options);

/// Carry out a plan in the calling thread: the same writes, by the same code, with no engine.
[[nodiscard]] Completion carry_out(const Plan& plan) noexcept;
/// The completion of a plan that `work` carries out.
[[nodiscard]] Completion completion_of(std::uint64_t plan,
                                       const std::function<void()>& work) noexcept;

}  // namespace iocomp::disk
