// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::trace {

/// The quantities counted on compute ranks and servers. See docs/metrics.md for each. Times in
/// seconds, sizes in bytes.
enum class Counter : std::size_t {
  // compute ranks
  put_bytes,            ///< bytes put
  puts,                 ///< calls of put
  steps,                ///< steps ended
  call_seconds,         ///< inside iocomp calls, finalize excluded
  put_seconds,          ///< of these: inside put
  buffer_wait_seconds,  ///< of these: waiting until the servers took what was put (flow control,
                        ///< buffer memory)
  wait_seconds,         ///< of these: inside wait and wait_step
  close_seconds,        ///< of these: inside close
  checksum_seconds,     ///< of put_seconds: waiting for checksums of blocks
  copied_bytes,         ///< copied by the library (buffered puts, strided blocks)
  lent_bytes,           ///< read by the kernel from the program's memory
  late_copies,          ///< blocks of which the rest was copied, because the program waited
  late_copied_bytes,    ///< of these
  late_copy_seconds,    ///< the time that took
  small_page_bytes,     ///< arrays put, of those looked at, that lie in small pages
  gpu_bytes,            ///< put from the memory of GPUs
  reads,                ///< calls of read
  read_bytes,           ///< bytes read for the program
  read_seconds,         ///< inside open_input and read; not part of call_seconds
  // whoever writes
  received_bytes,       ///< fetched by servers
  pieces,               ///< pieces received
  write_seconds,        ///< writer threads (or MPI writes) busy
  direct_bytes,         ///< written O_DIRECT
  buffered_bytes,       ///< written through the page cache
  sync_seconds,         ///< in fsync
  commit_seconds,       ///< writing manifests and renaming
  staging_peak_bytes,   ///< the most staging memory in use at once
  staging_limit_bytes,  ///< the limit of it
  full_seconds,         ///< a piece waited for staging memory
  serve_seconds,        ///< the server's life
  cpu_seconds,          ///< CPU time of the server's process meanwhile
  in_place_bytes,       ///< read by servers from memory that the program got from iocomp_alloc
  staged_bytes,         ///< read by servers from copies in shared memory
  pulled_bytes,         ///< read by servers out of the compute ranks' private memory
  message_bytes,        ///< sent by the compute ranks, in messages or through a ring
  sleeps,               ///< times a process went to sleep until another wakes it
  wake_ups,             ///< times a process woke another
  joined_bytes,         ///< of short runs that were put together in memory
  stripes,              ///< written of them as a whole
  partial_stripes,      ///< written run by run
  control_messages,     ///< sent by compute ranks to servers, data apart
  spilled_bytes,        ///< to a disk of the node, because memory was full
  spill_seconds,        ///< writing that, and reading it back
  raw_bytes,            ///< compressed: before
  compressed_bytes,     ///< the same, after
  compress_seconds,     ///< of all threads that compress
  writer_threads,       ///< of processes that have several, their own counted
  divided_bytes,        ///< of requests that several threads of a process did
  failures,             ///< pieces, steps and files that failed
  count_                // number of counters
};
inline constexpr std::size_t counter_count = static_cast<std::size_t>(Counter::count_);

/// The counters of one process.
class Counters {
 public:
  void add(Counter counter, double amount) noexcept {
    values_[static_cast<std::size_t>(counter)] += amount;
  }
  void set(Counter counter, double value) noexcept {
    values_[static_cast<std::size_t>(counter)] = value;
  }
  [[nodiscard]] double operator[](Counter counter) const noexcept {
    return values_[static_cast<std::size_t>(counter)];
  }

  [[nodiscard]] std::vector<double> values() const { return {values_.begin(), values_.end()}; }
  /// Add what another process counted.
  void merge(const std::vector<double>& other) noexcept;

  /// Sends events to a timeline too; null, as at first: to none.
  void record_into(Timeline* timeline) noexcept { timeline_ = timeline; }
  [[nodiscard]] Timeline* timeline() const noexcept { return timeline_; }

 private:
  std::array<double, counter_count> values_{};
  Timeline* timeline_ = nullptr;
};

/// Name in JSON: "put_bytes", ...
[[nodiscard]] std::string_view name(Counter counter) noexcept;

/// Adds the time of a scope to a counter, and where an event is named, the event to the timeline.
class Timer {
 public:
  Timer(Counters& counters, Counter counter) noexcept;
  Timer(Counters& counters, Counter counter, What what, const Subject& subject = {}) noexcept;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

 private:
  Counters& counters_;
  Counter counter_;
  double begin_;
  std::optional<Span> span_;
};

}  // namespace iocomp::trace
