// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "iocomp/output.h"
#include "iocomp/subcommands.h"
#include "iocomp/table.h"
#include "iocomp/text_file.h"
#include "iocomp/timeline_picture.h"
#include "trace/event.h"
#include "trace/merged.h"
#include "trace/perfetto.h"

namespace iocomp::command {
namespace {

using trace::What;

struct TraceOptions {
  std::string path;
  std::string perfetto;
  std::string picture;
  std::size_t waits = 10;
  bool json = false;
};

/// All events of one kind in one role.
struct Sum {
  std::size_t count = 0;
  double seconds = 0;
  std::int64_t bytes = 0;
  double longest = 0;
  int rank = 0;  // of the longest
};

/// A wait, and the call in which it was.
struct Wait {
  const trace::PlacedProcess* process = nullptr;
  const trace::PlacedEvent* wait = nullptr;
  const trace::PlacedEvent* call = nullptr;  // null where that is not known
  [[nodiscard]] double seconds() const { return wait->end - wait->begin; }
};

std::string kind_of(const trace::Event& event) {
  return event.what == What::call && !event.words().empty() ? std::string{event.words()}
                                                            : std::string{name(event.what)};
}

using Sums = std::map<std::pair<std::string, std::string>, Sum>;  // by role and kind

Sums sums_of(const trace::Merged& merged) {
  Sums sums;
  for (const auto& process : merged.processes) {
    for (const auto& placed : process.events) {
      Sum& sum = sums[{process.process.role, kind_of(placed.event)}];
      const double seconds = placed.end - placed.begin;
      ++sum.count;
      sum.seconds += seconds;
      sum.bytes += placed.event.bytes;
      if (seconds >= sum.longest) {
        sum.longest = seconds;
        sum.rank = process.process.rank;
      }
    }
  }
  return sums;
}

std::vector<Wait> longest_waits(const trace::Merged& merged, std::size_t count) {
  std::vector<Wait> waits;
  for (const auto& process : merged.processes) {
    const trace::PlacedEvent* call = nullptr;
    for (const auto& event : process.events) {
      if (event.event.what == What::call) {
        call = &event;
      } else if (event.event.what == What::wait || event.event.what == What::full) {
        const bool is_inside = call != nullptr && call->end >= event.end;
        waits.push_back({&process, &event, is_inside ? call : nullptr});
      }
    }
  }
  std::ranges::stable_sort(waits, std::greater{}, &Wait::seconds);
  waits.resize(std::min(waits.size(), count));
  return waits;
}

std::string what_for(const Wait& wait) {
  const auto words = wait.wait->event.words();
  std::string text{words.empty() ? "staging memory" : words};
  return wait.wait->is_open ? text + " (never ended)" : text;
}

std::string where(const Wait& wait) {
  if (wait.call == nullptr) {
    return "-";
  }
  const auto& event = wait.call->event;
  std::string text = kind_of(event);
  if (!event.file_name().empty()) {
    text += fmt::format(" of {}", event.file_name());
  }
  return event.step < 0 ? text : text + fmt::format(", step {}", event.step);
}

std::string seconds_text(double seconds) { return fmt::format("{:.6f}", seconds); }

void tell_in_words(const trace::Merged& merged, const std::vector<Wait>& waits) {
  fmt::print("{} processes, {:.6f} s; clocks agree to {:.0f} us\n\n", merged.processes.size(),
             merged.seconds, 1e6 * merged.clock_error);
  std::vector<std::vector<std::string>> rows{
      {"who", "event", "count", "seconds", "longest", "on rank", "bytes"}};
  for (const auto& [key, sum] : sums_of(merged)) {
    rows.push_back({key.first, key.second, std::to_string(sum.count), seconds_text(sum.seconds),
                    seconds_text(sum.longest), std::to_string(sum.rank),
                    sum.bytes > 0 ? format_bytes(sum.bytes) : "-"});
  }
  fmt::print("{}", aligned(rows));
  if (waits.empty()) {
    return;
  }
  rows = {{"waited", "at", "who", "in", "for"}};
  for (const Wait& wait : waits) {
    rows.push_back({seconds_text(wait.seconds()), seconds_text(wait.wait->begin),
                    wait.process->title(), where(wait), what_for(wait)});
  }
  fmt::print("\n{}", aligned(rows));
}

void tell_in_json(const trace::Merged& merged, const std::vector<Wait>& waits) {
  Json out{{"seconds", merged.seconds}, {"clock_error_seconds", merged.clock_error},
           {"faults", merged.faults},   {"processes", Json::array()},
           {"events", Json::array()},   {"waits", Json::array()}};
  for (const auto& process : merged.processes) {
    out["processes"].push_back({{"rank", process.process.rank},
                                {"role", process.process.role},
                                {"number", process.process.number},
                                {"host", process.process.host},
                                {"events", process.events.size()},
                                {"dropped", process.dropped}});
  }
  for (const auto& [key, sum] : sums_of(merged)) {
    out["events"].push_back({{"role", key.first},
                             {"event", key.second},
                             {"count", sum.count},
                             {"seconds", sum.seconds},
                             {"longest_seconds", sum.longest},
                             {"longest_on_rank", sum.rank},
                             {"bytes", sum.bytes}});
  }
  for (const Wait& wait : waits) {
    out["waits"].push_back({{"seconds", wait.seconds()},
                            {"at", wait.wait->begin},
                            {"rank", wait.process->process.rank},
                            {"in", where(wait)},
                            {"for", what_for(wait)}});
  }
  print(out);
}

void tell_faults(const trace::Merged& merged) {
  for (const auto& fault : merged.faults) {
    fmt::print(stderr, "iocomp: {}\n", fault);
  }
  for (const auto& process : merged.processes) {
    if (process.dropped > 0) {
      fmt::print(stderr, "iocomp: {}: {} events were dropped: the newest are kept\n",
                 process.title(), process.dropped);
    }
  }
}

void tell(const TraceOptions& options) {
  const trace::Merged merged = trace::merge_files(options.path);
  tell_faults(merged);
  if (!options.perfetto.empty()) {
    std::ostringstream text;
    trace::write_perfetto(merged, text);
    write_text_file(options.perfetto, text.str());
  }
  if (!options.picture.empty()) {
    write_text_file(options.picture, picture_of(merged));
  }
  const auto waits = longest_waits(merged, options.waits);
  options.json ? tell_in_json(merged, waits) : tell_in_words(merged, waits);
}

}  // namespace

void add_trace(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "trace",
      "Print what the processes of a run did and what they waited for, from trace.timeline");
  command
      ->add_option("PATH", options->path, "The folder that trace.timeline named, or a file of it")
      ->required();
  command->add_option("--perfetto", options->perfetto,
                      "Write all events into this JSON file, for Perfetto or chrome://tracing");
  command->add_option("--picture", options->picture, "Draw them into this SVG file");
  command->add_option("--waits", options->waits, "Print so many of the longest waits")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print it as JSON");
  command->callback([options] { tell(*options); });
}

}  // namespace iocomp::command
