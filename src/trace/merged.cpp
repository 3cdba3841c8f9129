// SPDX-License-Identifier: BSD-3-Clause
#include "trace/merged.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/small_files.h"
#include "trace/event.h"
#include "trace/timeline_file.h"

namespace iocomp::trace {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Row::count_)> row_names{
    "calls", "memory in use", "taking in", "disk", "commit"};

/// The lanes of one row of one process.
class Lanes {
 public:
  explicit Lanes(bool nests) : nests_{nests} {}

  /// The first lane where the event overlaps no other, or lies within those that it overlaps.
  std::size_t place(double begin, double end) {
    for (std::size_t lane = 0; lane < ends_.size(); ++lane) {
      auto& ends = ends_[lane];
      std::erase_if(ends, [begin](double earlier) { return earlier <= begin; });
      if (ends.empty() || (nests_ && end <= ends.back())) {
        ends.push_back(end);
        return lane;
      }
    }
    ends_.push_back({end});
    return ends_.size() - 1;
  }

 private:
  bool nests_;
  std::vector<std::vector<double>> ends_;  // by lane: of what goes on, the innermost last
};

PlacedProcess placed(ReadTimeline timeline) {
  const double offset = timeline.process.clock_offset;
  PlacedProcess process;
  process.dropped = timeline.state.lost + timeline.overwritten;
  process.events.reserve(timeline.events.size() + timeline.state.open.size());
  double last = timeline.state.now;
  for (const Event& event : timeline.events) {
    process.events.push_back({event, event.begin + offset, event.end + offset});
    last = std::max(last, event.end);
  }
  for (const Event& event : timeline.state.open) {
    process.events.push_back({event, event.begin + offset, last + offset, true});
  }
  for (PlacedEvent& event : process.events) {
    event.end = std::max(event.begin, event.end);
    if (event.event.rank < 0 && event.event.ticket > 0) {
      event.event.rank = timeline.process.rank;
    }
  }
  process.process = std::move(timeline.process);
  std::ranges::sort(process.events, {}, [](const PlacedEvent& event) {
    return std::tuple{event.begin, -event.end, event.event.number};
  });
  return process;
}

void lay_in_lanes(std::vector<PlacedEvent>& events) {
  std::vector<Lanes> rows;
  for (std::size_t row = 0; row < row_names.size(); ++row) {
    rows.emplace_back(static_cast<Row>(row) == Row::calls);
  }
  for (PlacedEvent& event : events) {
    event.lane =
        rows[static_cast<std::size_t>(row_of(event.event.what))].place(event.begin, event.end);
  }
}

// The zero of the axis becomes the first event.
void set_zero(Merged& merged) {
  double first = std::numeric_limits<double>::max();
  double last = std::numeric_limits<double>::lowest();
  for (const PlacedProcess& process : merged.processes) {
    for (const PlacedEvent& event : process.events) {
      first = std::min(first, event.begin);
      last = std::max(last, event.end);
    }
  }
  for (PlacedProcess& process : merged.processes) {
    for (PlacedEvent& event : process.events) {
      event.begin -= first;
      event.end -= first;
    }
  }
  merged.seconds = std::max(0.0, last - first);
}

}  // namespace

Row row_of(What what) noexcept {
  switch (what) {
    case What::hand_over:
      return Row::memory;
    case What::take:
    case What::pull:
    case What::full:
      return Row::intake;
    case What::write:
    case What::sync:
    case What::spill:
      return Row::disk;
    case What::commit:
      return Row::commit;
    default:
      return Row::calls;
  }
}

std::string_view name(Row row) noexcept { return row_names[static_cast<std::size_t>(row)]; }

std::string PlacedProcess::title() const {
  return process.role + ' ' + std::to_string(process.number) + " (rank " +
         std::to_string(process.rank) + ')';
}

Merged merge(std::vector<ReadTimeline> timelines) {
  Merged merged;
  const auto newest = std::ranges::max_element(
      timelines, {}, [](const ReadTimeline& timeline) { return timeline.process.started; });
  if (newest == timelines.end()) {
    return merged;
  }
  const double started = newest->process.started;
  for (ReadTimeline& timeline : timelines) {
    if (timeline.process.started != started) {
      merged.faults.push_back("rank " + std::to_string(timeline.process.rank) +
                              ": its timeline is of an earlier session, and is left out");
      continue;
    }
    merged.faults.insert(merged.faults.end(), timeline.faults.begin(), timeline.faults.end());
    merged.clock_error = std::max(merged.clock_error, timeline.process.clock_error);
    merged.processes.push_back(placed(std::move(timeline)));
    lay_in_lanes(merged.processes.back().events);
  }
  std::ranges::sort(merged.processes, {},
                    [](const PlacedProcess& process) { return process.process.rank; });
  set_zero(merged);
  return merged;
}

Merged merge_files(const std::string& path) {
  std::vector<std::string> paths;
  const auto found = find_file(path);
  const bool is_one = found && S_ISREG(found->st_mode);
  if (is_one) {
    paths.push_back(path);
  } else {
    for (const std::string& name : names_in(path)) {
      if (name.ends_with(timeline_ending)) {
        paths.push_back(path + '/' + name);
      }
    }
  }
  std::ranges::sort(paths);
  std::vector<ReadTimeline> timelines;
  std::vector<std::string> faults;
  for (const std::string& one : paths) {
    const Outcome read = outcome_of([&] { timelines.push_back(read_timeline(one)); });
    if (!read.ok()) {
      faults.push_back(read.story);
    }
  }
  if (timelines.empty()) {
    throw Error{ErrorCode::not_found,
                path + ": there is no timeline" + (faults.empty() ? "" : "; " + faults.front())};
  }
  Merged merged = merge(std::move(timelines));
  merged.faults.insert(merged.faults.begin(), faults.begin(), faults.end());
  const int there = static_cast<int>(merged.processes.size() + faults.size());
  const int processes = merged.processes.front().process.processes;
  if (!is_one && there < processes) {
    merged.faults.push_back(path + ": it has the timelines of " + std::to_string(there) + " of " +
                            std::to_string(processes) + " processes of the job");
  }
  return merged;
}

}  // namespace iocomp::trace
