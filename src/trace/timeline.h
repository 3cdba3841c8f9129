// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "trace/event.h"
#include "trace/timeline_file.h"

namespace iocomp::trace {

/// The events of one process, on their way to its file. Recording costs a copy of 192 bytes under a
/// lock; a thread that sleeps writes them once a second. At most `most_pending` wait in memory,
/// what finds no room is counted. Any thread may record.
class Timeline {
 public:
  static constexpr std::size_t most_pending = 8192;

  explicit Timeline(TimelineFile file);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline();

  /// Records an event that has ended.
  void record(What what, double begin, double end, const Subject& subject) noexcept;

  /// Opens an event that begins now. @return its place, for `close`.
  [[nodiscard]] std::size_t open(What what, const Subject& subject) noexcept;
  /// More is known of what this process began last and has not ended.
  void describe_newest(const Subject& subject) noexcept;
  void close(std::size_t place) noexcept;

  /// Write what is there, for the last time.
  void finish() noexcept;

 private:
  void add(const Event& event) noexcept;  // with the lock held
  void write_now_and_then(const std::stop_token& stop);
  void write(bool has_ended) noexcept;

  std::mutex mutex_;
  std::condition_variable_any many_;
  std::vector<Event> pending_;  // guarded by mutex_, like the next
  std::vector<Event> open_;     // by place; free ones have no time
  std::vector<std::size_t> free_places_;
  std::vector<std::size_t> order_;  // places in use, in the order of their begin
  std::uint64_t lost_ = 0;
  std::vector<Event> writing_;  // of the thread that writes
  TimelineFile file_;
  bool has_failed_ = false;
  bool has_finished_ = false;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace iocomp::trace
