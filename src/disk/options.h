// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/crew.h"

namespace iocomp::disk {

class Pace;

/// The rule for writes that bypass the page cache.
enum class Direct {
  automatic,  ///< where a run of at least `direct_from_bytes` is aligned in memory and file
  on,         ///< wherever a run is aligned
  off,
};

/// The engine that carries out plans.
enum class EngineKind {
  automatic,  ///< io_uring where this process may have one, else threads
  uring,
  threads,
};

struct Options {
  EngineKind engine = EngineKind::automatic;
  Direct direct = Direct::automatic;
  std::size_t direct_from_bytes = std::size_t{1} << 20;
  std::size_t request_bytes = std::size_t{64} << 20;  ///< the largest single write
  int threads = 1;                                    ///< writer threads of a ThreadEngine
  bool threads_run_anywhere = false;                  ///< see run_anywhere in base/thread.h
  /// Workers of the kernel that write at the same time, so that the rest can be moved (see
  /// Engine::move); 0: as many as the kernel likes.
  unsigned workers = 0;
  /// Memory may be wanted back before it is written: where the kernel would write long plans, as
  /// many threads as `workers` may do it.
  bool gives_memory_back = false;
  /// Threads that a request is divided among; null: the thread that has it does all.
  Crew* crew = nullptr;
  /// Limits the rate at which a file is written; null: no limit.
  std::shared_ptr<Pace> pace{};
  /// True if others have taken the files of this process over, and reuse the memory that it writes
  /// from. Called from any thread; empty if nobody may.
  std::function<bool()> is_fenced{};
  /// Called when an fsync has failed, before anybody hears of it: the system tells it only once.
  /// Called from any thread.
  std::function<void()> sync_failed{};
  /// All processes that write the file are on one node: an fsync by one of them is one of all.
  bool are_writers_on_one_node = false;
};

/// The options for a file whose writes may overlap. A page of it must not be written both through
/// the page cache and past it, or old bytes may end over new ones.
[[nodiscard]] inline Options without_direct(Options options) noexcept {
  options.direct = Direct::off;
  return options;
}

}  // namespace iocomp::disk
