// SPDX-License-Identifier: BSD-3-Clause
#include "trace/timeline.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "trace/event.h"
#include "trace/timeline_file.h"

namespace iocomp::trace {
namespace {

constexpr std::chrono::seconds between_writes{1};
constexpr std::size_t nowhere = most_open_events;

}  // namespace

Timeline::Timeline(TimelineFile file) : open_(most_open_events), file_{std::move(file)} {
  pending_.reserve(most_pending);
  writing_.reserve(most_pending);
  order_.reserve(most_open_events);
  for (std::size_t place = most_open_events; place > 0; --place) {
    free_places_.push_back(place - 1);
  }
  thread_ = start_thread("iocomp-timeline",
                         [this](const std::stop_token& stop) { write_now_and_then(stop); });
}

Timeline::~Timeline() { finish(); }

void Timeline::record(What what, double begin, double end, const Subject& subject) noexcept {
  Event event;
  event.what = what;
  event.begin = begin;
  event.end = end;
  describe(event, subject);
  const std::scoped_lock lock{mutex_};
  add(event);
}

std::size_t Timeline::open(What what, const Subject& subject) noexcept {
  Event event;
  event.what = what;
  event.begin = now_seconds();
  event.end = event.begin - 1;
  describe(event, subject);
  const std::scoped_lock lock{mutex_};
  if (free_places_.empty()) {
    ++lost_;
    return nowhere;
  }
  const std::size_t place = free_places_.back();
  free_places_.pop_back();
  open_[place] = event;
  order_.push_back(place);
  return place;
}

void Timeline::describe_newest(const Subject& subject) noexcept {
  const std::scoped_lock lock{mutex_};
  if (!order_.empty()) {
    describe(open_[order_.back()], subject);
  }
}

void Timeline::close(std::size_t place) noexcept {
  if (place == nowhere) {
    return;
  }
  const double now = now_seconds();
  const std::scoped_lock lock{mutex_};
  open_[place].end = now;
  add(open_[place]);
  std::erase(order_, place);
  free_places_.push_back(place);
}

void Timeline::add(const Event& event) noexcept {
  if (pending_.size() == most_pending) {
    ++lost_;
    return;
  }
  pending_.push_back(event);
  if (pending_.size() == most_pending / 2) {
    many_.notify_one();
  }
}

void Timeline::write_now_and_then(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock{mutex_};
      many_.wait_for(lock, stop, between_writes,
                     [this] { return pending_.size() >= most_pending / 2; });
    }
    if (!stop.stop_requested()) {
      write(false);
    }
  }
}

// A timeline that cannot be written is told once, and costs the run nothing more.
void Timeline::write(bool has_ended) noexcept {
  TimelineState state;
  writing_.clear();
  {
    const std::scoped_lock lock{mutex_};
    std::swap(pending_, writing_);
    for (const std::size_t place : order_) {
      state.open.push_back(open_[place]);
    }
    state.lost = lost_;
  }
  if (has_failed_) {
    return;
  }
  state.now = now_seconds();
  state.has_ended = has_ended;
  const Outcome written = outcome_of([&] {
    file_.append(writing_);
    file_.write_state(state);
  });
  if (!written.ok()) {
    has_failed_ = true;
    log::warning("the timeline ends here: " + written.story);
  }
}

void Timeline::finish() noexcept {
  if (std::exchange(has_finished_, true)) {
    return;
  }
  thread_.request_stop();
  thread_.join();
  write(true);
}

}  // namespace iocomp::trace
