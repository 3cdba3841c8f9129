// SPDX-License-Identifier: BSD-3-Clause
#include "trace/timeline_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/our_words.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "base/small_files.h"
#include "trace/event.h"

namespace iocomp::trace {
namespace {

constexpr std::size_t header_bytes = 4096;
constexpr std::size_t ring_begins = header_bytes + most_open_events * sizeof(Event);
constexpr const char* kind_of_file = "iocomp timeline";
constexpr int version_of_file = 1;
constexpr std::int64_t most_bytes = std::int64_t{1} << 33;  // as many events as a setting allows

nlohmann::ordered_json to_json(const Process& process) {
  return {{"kind", kind_of_file},
          {"version", version_of_file},
          {"event_bytes", sizeof(Event)},
          {"job", process.job},
          {"started", process.started},
          {"host", process.host},
          {"pid", process.pid},
          {"rank", process.rank},
          {"role", process.role},
          {"number", process.number},
          {"processes", process.processes},
          {"clock_offset", process.clock_offset},
          {"clock_error", process.clock_error}};
}

Process process_of(const nlohmann::json& header) {
  Process process;
  process.job = header.at("job");
  process.started = header.at("started");
  process.host = header.at("host");
  process.pid = header.at("pid");
  process.rank = header.at("rank");
  process.role = header.at("role");
  process.number = header.at("number");
  process.processes = header.value("processes", 0);  // 0 before release 0.3
  process.clock_offset = header.at("clock_offset");
  process.clock_error = header.at("clock_error");
  return process;
}

bool is_sound(const Event& event) {
  return event.check == check_of(event) && event.what < What::count_ && event.file.back() == '\0' &&
         event.text.back() == '\0';
}

Event event_at(std::string_view bytes, std::size_t offset) {
  Event event;
  std::memcpy(&event, bytes.data() + offset, sizeof event);
  return event;
}

nlohmann::json header_in(const std::string& path, std::string_view bytes) {
  nlohmann::json header =
      nlohmann::json::parse(bytes.substr(0, std::min(bytes.size(), header_bytes)), nullptr, false);
  if (!header.is_object() || header.value("kind", "") != kind_of_file) {
    throw Error{ErrorCode::storage_failure,
                path + ": this is not a timeline, or its begin is torn"};
  }
  if (header.value("version", 0) != version_of_file ||
      header.value("event_bytes", std::size_t{0}) != sizeof(Event)) {
    throw Error{ErrorCode::storage_failure, path + ": a timeline of another release of iocomp"};
  }
  return header;
}

void read_open(std::string_view bytes, std::size_t count, ReadTimeline& read) {
  for (std::size_t i = 0; i < std::min(count, most_open_events); ++i) {
    const std::size_t offset = header_bytes + i * sizeof(Event);
    if (offset + sizeof(Event) <= bytes.size()) {
      const Event event = event_at(bytes, offset);
      if (is_sound(event)) {
        read.state.open.push_back(event);
      }
    }
  }
}

// @return how many are damaged.
std::size_t read_ring(std::string_view bytes, std::size_t capacity, ReadTimeline& read) {
  std::size_t damaged = 0;
  std::size_t place = 0;
  for (std::size_t offset = ring_begins; offset < bytes.size(); offset += sizeof(Event), ++place) {
    if (offset + sizeof(Event) > bytes.size()) {
      ++damaged;
      break;
    }
    const Event event = event_at(bytes, offset);
    if (is_sound(event) && event.number % capacity == place) {
      read.events.push_back(event);
    } else {
      ++damaged;
    }
  }
  std::ranges::sort(read.events, {}, &Event::number);
  return damaged;
}

}  // namespace

TimelineFile::TimelineFile(std::string path, std::size_t events, Process process)
    : path_{std::move(path)},
      events_{std::max<std::size_t>(events, 1)},
      process_{std::move(process)},
      file_{OpenFolder{folder_of(path_)}.create(name_in_folder(path_), O_WRONLY)} {
  write_state({});
}

void TimelineFile::append(std::span<const Event> events) {
  if (events.size() > events_) {
    written_ += events.size() - events_;
    events = events.last(events_);
  }
  std::vector<Event> numbered{events.begin(), events.end()};
  for (Event& event : numbered) {
    event.number = written_++;
    event.check = check_of(event);
  }
  std::span<const Event> left{numbered};
  while (!left.empty()) {
    const std::size_t place = left.front().number % events_;
    const auto now = left.first(std::min(left.size(), events_ - place));
    write(now.data(), now.size_bytes(), ring_begins + place * sizeof(Event));
    left = left.subspan(now.size());
  }
}

// Called after the events that the state counts were written.
void TimelineFile::write_state(const TimelineState& state) {
  auto header = to_json(process_);
  const std::size_t open = std::min(state.open.size(), most_open_events);
  header["capacity"] = events_;
  header["written"] = written_;
  header["lost"] = state.lost;
  header["now"] = state.now;
  header["ended"] = state.has_ended;
  header["open"] = open;
  std::string bytes = header.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  bytes.resize(header_bytes - 1, ' ');
  bytes += '\n';
  for (std::size_t i = 0; i < open; ++i) {
    Event event = state.open[i];
    event.check = check_of(event);
    bytes.append(reinterpret_cast<const char*>(&event), sizeof event);
  }
  bytes.resize(ring_begins, '\0');
  write(bytes.data(), bytes.size(), 0);
}

void TimelineFile::write(const void* bytes, std::size_t size, std::uint64_t offset) const {
  write_plainly(file_, static_cast<std::int64_t>(offset),
                {static_cast<const std::byte*>(bytes), size}, path_);
}

TimelineFile create_timeline_file(const std::string& folder, std::size_t events, Process process) {
  const Outcome made = outcome_of([&] { make_folders(folder); });
  if (!made.ok()) {
    throw Error{made.code, "the folder cannot be made on " + process.host + ": " + made.story};
  }
  const std::string name = "rank-" + std::to_string(process.rank) + timeline_ending;
  return {folder + '/' + name, events, std::move(process)};
}

ReadTimeline read_timeline(const std::string& path) {
  const std::optional<std::string> bytes = read_file(path, most_bytes);
  if (!bytes) {
    throw Error{ErrorCode::storage_failure, "cannot read " + path};
  }
  ReadTimeline read;
  try {
    const auto header = header_in(path, *bytes);
    read.process = process_of(header);
    const std::size_t capacity = std::max<std::size_t>(1, header.at("capacity"));
    read.state.lost = header.at("lost");
    read.state.now = header.at("now");
    read.state.has_ended = header.at("ended");
    read_open(*bytes, header.at("open"), read);
    const std::size_t damaged = read_ring(*bytes, capacity, read);
    const std::size_t whole = std::min(header.at("written").get<std::size_t>(), capacity);
    const std::size_t missing = whole - std::min(whole, read.events.size());
    if (const std::size_t faulty = std::max(damaged, missing); faulty > 0) {
      read.faults.push_back(path + ": " + std::to_string(faulty) + " damaged or missing events");
    }
    const std::uint64_t newest = read.events.empty() ? 0 : read.events.back().number + 1;
    read.overwritten = newest > capacity ? newest - capacity : 0;
  } catch (const nlohmann::json::exception& error) {
    throw Error{ErrorCode::storage_failure, path + ": the begin is torn: " + in_our_words(error)};
  }
  if (!read.state.has_ended) {
    read.faults.push_back(path + ": the process did not end its session; " +
                          std::to_string(read.state.open.size()) + " events were open");
  }
  return read;
}

}  // namespace iocomp::trace
