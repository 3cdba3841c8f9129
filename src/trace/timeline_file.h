// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "trace/event.h"

namespace iocomp::trace {

/// The process whose events a file holds.
struct Process {
  std::string job{};   ///< the same for all processes of a session
  double started = 0;  ///< when the session began, in seconds since 1970, the same for all
  std::string host{};
  std::int64_t pid = 0;
  int rank = 0;             ///< of the session
  std::string role{};       ///< "compute" or "server"
  int number = 0;           ///< in this role
  int processes = 0;        ///< of the session
  double clock_offset = 0;  ///< seconds to add to its times for those of rank 0
  double clock_error = 0;   ///< how far that may be off
};

/// The state that changes while events come.
struct TimelineState {
  std::vector<Event> open{};  ///< begun and not ended
  std::uint64_t lost = 0;     ///< events that found no room in memory
  double now = 0;             ///< of the process's clock
  bool has_ended = false;     ///< the process has ended its session
};

/// Events that may be open at once.
inline constexpr std::size_t most_open_events = 64;
inline constexpr const char* timeline_ending = ".events";

/// The events of one process on disk: a header, the open events, and a ring of the newest `events`
/// others. Whenever the process dies, what was written before can be read.
class TimelineFile {
 public:
  /// @throws Error{storage_failure}.
  TimelineFile(std::string path, std::size_t events, Process process);

  /// @throws Error{storage_failure}.
  void append(std::span<const Event> events);
  /// @throws Error{storage_failure}.
  void write_state(const TimelineState& state);

 private:
  void write(const void* bytes, std::size_t size, std::uint64_t offset) const;

  std::string path_;
  std::size_t events_;
  Process process_;
  Descriptor file_;
  std::uint64_t written_ = 0;  // events ever
};

/// The file of this process in a folder, which is made if need be.
/// @throws Error{storage_failure}, with the host.
[[nodiscard]] TimelineFile create_timeline_file(const std::string& folder, std::size_t events,
                                                Process process);

/// The contents of a file, as far as it is sound.
struct ReadTimeline {
  Process process{};
  TimelineState state{};
  std::vector<Event> events{};        ///< that have ended, by number
  std::uint64_t overwritten = 0;      ///< older ones, which the ring does not hold any more
  std::vector<std::string> faults{};  ///< "PATH: 3 damaged events"
};

/// @throws Error{storage_failure} with the path for a file that no timeline can be read from.
[[nodiscard]] ReadTimeline read_timeline(const std::string& path);

}  // namespace iocomp::trace
