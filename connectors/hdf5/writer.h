// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "hdf5/event.h"
#include "hdf5/native.h"
#include "hdf5/output.h"
#include "hdf5/packer.h"
#include "staging/arena.h"
#include "trace/counters.h"

namespace iocomp::hdf5 {

/// Writes what the program has written, while the program goes on: from copies, which all together
/// are within `client.buffer_memory`, or from the program's memory, if an event set tells it when
/// that may change. Writes of the same bytes end in the order in which they came.
class Writer {
 public:
  /// @throws Error{unsupported, invalid_setting}.
  Writer(const config::Settings& settings, trace::Counters& counters);

  [[nodiscard]] const disk::Options& options() const noexcept { return options_; }
  /// The most that is copied at once; 0: nothing can be copied.
  [[nodiscard]] std::size_t largest_copy_bytes() const noexcept { return largest_copy_bytes_; }
  /// All memory for copies.
  [[nodiscard]] std::size_t largest_memory_bytes() const noexcept {
    return arena_ ? arena_->capacity_bytes() : 0;
  }
  /// "io_uring" or "threads", with the reason; "none" where nothing can be copied.
  [[nodiscard]] std::string engine() const { return engine_ ? engine_->name() : "none"; }

  /// Memory for a copy; sleeps until there is room.
  /// @pre bytes <= largest_memory_bytes()
  [[nodiscard]] staging::Lease take(std::size_t bytes);
  /// Begin to write. @pre `writes` are in the order of the file.
  /// @param copy  the memory that they read from; nothing if it is the program's.
  /// @param event  the call they belong to; null for one that does not wait for them.
  void submit(const std::shared_ptr<Output>& output, std::vector<disk::Write> writes,
              staging::Lease copy, std::shared_ptr<Event> event);

  /// False where HDF5 has to filter chunks.
  [[nodiscard]] bool packs() { return packer_.has_threads(); }
  /// Begin to filter a chunk. @pre packs()
  /// @param chunk  all but its plan.
  void pack(Packer::Chunk chunk);

  /// Sleep until no chunk of the dataset is on its way.
  void finish(const Output& output, const native::Token& dataset);
  /// Sleep until nothing of the file is on its way.
  void finish(const Output& output);
  /// The same for all files.
  void finish_all();
  /// Sleep until the event is done, or this has passed.
  void wait_for(const Event& event, std::chrono::nanoseconds longest);
  /// Take note of plans that have ended, and ask for the next ones; never waits.
  void look();

 private:
  struct Plan {
    std::shared_ptr<Output> output;
    staging::Lease copy;
    std::shared_ptr<Event> event;
    double begin = 0;  ///< of the process's clock
    std::int64_t bytes = 0;
  };
  void wait(std::chrono::nanoseconds longest = std::chrono::seconds{1});
  /// Sleep until `done`. @param what  is waited for.
  template <typename Done>
  void wait_until(const char* what, Done done);

  trace::Counters& counters_;
  disk::Options options_;
  std::optional<staging::Arena> arena_;
  std::size_t largest_copy_bytes_ = 0;
  std::map<std::uint64_t, Plan> plans_;  // under way
  std::uint64_t next_plan_ = 1;
  Packer packer_;
  std::unique_ptr<disk::Engine> engine_;  // last: what it writes from is above
};

}  // namespace iocomp::hdf5
