// SPDX-License-Identifier: BSD-3-Clause
#include "trace/perfetto.h"

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "trace/event.h"
#include "trace/merged.h"

namespace iocomp::trace {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t lanes_per_row = 100000;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Microseconds, to the nanosecond.
double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }

std::size_t thread_of(const PlacedEvent& event) {
  return 1 + static_cast<std::size_t>(row_of(event.event.what)) * lanes_per_row + event.lane;
}

Json named(const char* what, int process, std::size_t thread, Json arguments) {
  return {{"ph", "M"},
          {"name", what},
          {"pid", process},
          {"tid", thread},
          {"args", std::move(arguments)}};
}

Json arguments_of(const PlacedEvent& placed) {
  const Event& event = placed.event;
  Json arguments = Json::object();
  const auto add = [&](const char* key, bool is_known, const auto& value) {
    if (is_known) {
      arguments[key] = value;
    }
  };
  add("file", !event.file_name().empty(), std::string{event.file_name()});
  add("step", event.step >= 0, event.step);
  add("bytes", event.bytes > 0, event.bytes);
  add("rank", event.rank >= 0, event.rank);
  add("ticket", event.ticket > 0, event.ticket);
  add("what", !event.words().empty() && event.what != What::call, std::string{event.words()});
  add("open", placed.is_open, true);
  return arguments;
}

Json complete_event(const PlacedEvent& placed, int process) {
  const Event& event = placed.event;
  const bool is_call = event.what == What::call && !event.words().empty();
  return {{"ph", "X"},
          {"name", std::string{is_call ? event.words() : name(event.what)}},
          {"cat", std::string{name(event.what)}},
          {"pid", process},
          {"tid", thread_of(placed)},
          {"ts", microseconds(placed.begin)},
          {"dur", microseconds(placed.end - placed.begin)},
          {"args", arguments_of(placed)}};
}

}  // namespace

void write_perfetto(const Merged& merged, std::ostream& out) {
  out << "{\"displayTimeUnit\":\"ms\",\n\"otherData\":"
      << text_of({{"clock_error_seconds", merged.clock_error}, {"faults", merged.faults}})
      << ",\n\"traceEvents\":[";
  const char* separator = "\n";
  const auto write = [&](const Json& event) {
    out << separator << text_of(event);
    separator = ",\n";
  };
  for (const PlacedProcess& process : merged.processes) {
    const int rank = process.process.rank;
    write(named("process_name", rank, 0, {{"name", process.title()}}));
    write(named("process_sort_index", rank, 0, {{"sort_index", rank}}));
    std::set<std::size_t> threads;
    for (const PlacedEvent& event : process.events) {
      const std::size_t thread = thread_of(event);
      if (threads.insert(thread).second) {
        const std::string row{name(row_of(event.event.what))};
        const std::string lane = event.lane == 0 ? "" : ' ' + std::to_string(event.lane + 1);
        write(named("thread_name", rank, thread, {{"name", row + lane}}));
        write(named("thread_sort_index", rank, thread, {{"sort_index", thread}}));
      }
      write(complete_event(event, rank));
    }
  }
  out << "\n]}\n";
}

}  // namespace iocomp::trace
