// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"
#include "trace/timeline_file.h"

namespace iocomp::trace {

/// The rows of one process, side by side. Events of `calls` lie in one another; those of the others
/// overlap, and are laid in lanes.
enum class Row : std::uint8_t { calls, memory, intake, disk, commit, count_ };
[[nodiscard]] Row row_of(What what) noexcept;
/// "calls", "memory in use", ...
[[nodiscard]] std::string_view name(Row row) noexcept;

/// An event on the axis of all processes, whose zero is the first event.
struct PlacedEvent {
  Event event{};
  double begin = 0;
  double end = 0;        ///< of one that did not end: when its process was last heard of
  bool is_open = false;  ///< it did not end
  std::size_t lane = 0;  ///< in its row
};

struct PlacedProcess {
  Process process{};
  std::vector<PlacedEvent> events{};  ///< by their begin
  std::uint64_t dropped = 0;          ///< events that were not kept

  /// "compute 3 (rank 5)"
  [[nodiscard]] std::string title() const;
};

/// The timelines of a session, on one axis.
struct Merged {
  std::vector<PlacedProcess> processes{};  ///< by rank
  double seconds = 0;                      ///< from the first event to the last
  double clock_error = 0;                  ///< the largest of any process
  std::vector<std::string> faults{};       ///< what was left out, and why
};

/// Processes of the newest session count; others are faults.
[[nodiscard]] Merged merge(std::vector<ReadTimeline> timelines);

/// Merges the timelines of a folder, or of one file. A file that cannot be read is listed as a
/// fault.
/// @throws Error{not_found} if there is nothing that could be read.
[[nodiscard]] Merged merge_files(const std::string& path);

}  // namespace iocomp::trace
