// SPDX-License-Identifier: BSD-3-Clause
#include "disk/ring_engine.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/log.h"
#include "disk/move.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "disk/ring.h"
#include "disk/start_ring.h"

namespace iocomp::disk {
namespace {

// A copy into the page cache that takes less than waking a worker of the kernel twice.
constexpr std::size_t small_bytes = std::size_t{256} << 10;
constexpr std::size_t few_writes = 64;
// Buffered writes from here on bring their flush with them.
constexpr std::size_t large_bytes = std::size_t{4} << 20;
// A write and its flush, a word to wait for and its withdrawal.
constexpr std::size_t spare_places = 4;
constexpr int most_tries = 1000;

bool is_small(const Plan& plan) {
  std::size_t bytes = 0;
  for (const Write& write : plan.writes) {
    bytes += write.bytes.size();
  }
  return bytes <= small_bytes && plan.writes.size() <= few_writes;
}

}  // namespace

RingEngine::RingEngine(unsigned workers)
    : jobs_(requests_in_flight), ring_{requests_in_flight + spare_places, workers} {
  for (std::uint64_t tag = 0; tag < requests_in_flight; ++tag) {
    free_tags_.push_back(tag);
  }
}

RingEngine::~RingEngine() { finish(); }

void RingEngine::submit(Plan plan) {
  look();
  ++outstanding_;
  Task& task = tasks_.emplace_front();
  task.self = tasks_.begin();
  task.plan = std::move(plan);
  task.completion.id = task.plan.id;
  task.began = now_seconds();
  // Submitted behind a large write, a small one would make the caller wait for the locks of the
  // file; a flush holds none.
  task.is_small = !task.plan.meets_locks && locking_ == 0 && again_.empty() && uncut_.empty() &&
                  is_small(task.plan);
  uncut_.push_back(&task);
  advance();
}

// Writes that a worker of the kernel has begun go on. The others come back and are submitted again.
std::vector<std::uint64_t> RingEngine::move(std::span<const std::byte> from,
                                            std::span<std::byte> to, std::size_t copied) {
  look();
  const Move move{from, to.data(), copied, moved_};
  std::set<std::uint64_t> plans;
  for (Task& task : tasks_) {
    if (move.apply(task.remaining, std::span{task.plan.writes}.subspan(task.next_write))) {
      plans.insert(task.plan.id);
    }
  }
  for (Job& job : again_) {
    if (job.kind == Job::Kind::write && move.apply(job.request.bytes)) {
      plans.insert(job.task->plan.id);
    }
  }
  for (std::uint64_t tag = 0; tag < jobs_.size(); ++tag) {
    Job& job = jobs_[tag];
    if (job.reads(from) && move.covers(job.request.bytes)) {
      job.moves_to = move.place_of(job.request.bytes);
      plans.insert(job.task->plan.id);
      ring_.cancel(tag);
    }
  }
  ring_.submit();
  return {plans.begin(), plans.end()};
}

bool RingEngine::reads(std::span<const std::byte> memory) {
  look();
  const auto is_left = [&](const Task& task) {
    return disk::reads(task.remaining, std::span{task.plan.writes}.subspan(task.next_write),
                       memory);
  };
  const auto is_read = [&](const Job& job) { return job.reads(memory); };
  return std::ranges::any_of(tasks_, is_left) || std::ranges::any_of(again_, is_read) ||
         (std::ranges::any_of(jobs_, is_read) && !has_bug(Bug::memory_let_go_early));
}

std::vector<Completion> RingEngine::take_completed() {
  look();
  outstanding_ -= completions_.size();
  return std::exchange(completions_, {});
}

void RingEngine::wait(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) {
  constexpr std::chrono::nanoseconds endless = std::chrono::hours{24};
  const auto end = std::chrono::steady_clock::now() + std::min(longest, endless);
  look();
  while (completions_.empty() && !std::exchange(has_let_go_, false) &&
         !(word && word->has_changed())) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds{0}) {
      return;
    }
    ring_.wait(left, word);
    look();
  }
}

void RingEngine::look() {
  ring_.take(answers_);
  for (const RingAnswer& answer : answers_) {
    const Job job = std::exchange(jobs_[answer.tag], {});
    free_tags_.push_back(answer.tag);
    locking_ -= job.kind == Job::Kind::flush ? 0 : 1;
    answered(job, answer.result);
  }
  answers_.clear();
  advance();
}

bool RingEngine::has_room() const { return free_tags_.size() >= 2 && ring_.room() >= spare_places; }

// Ask for as much as there is room for.
void RingEngine::advance() {
  while (has_room() && (!again_.empty() || !uncut_.empty())) {
    if (!again_.empty()) {
      const Job job = again_.front();
      again_.pop_front();
      ask(job);
      continue;
    }
    Task& task = *uncut_.front();
    if (!cut(task)) {
      uncut_.pop_front();
      task.is_cut = true;
      settle(task);
    }
  }
  ring_.submit();
}

// Take the next request off a plan; false when there is none.
bool RingEngine::cut(Task& task) {
  if (!find_next(task)) {
    return false;
  }
  if (task.is_small) {
    return write_small(task);
  }
  ask_next(task, task.plan.file->take_request(task.remaining));
  return true;
}

// Goes to the next write of the plan that has bytes not yet asked for. @return false if there is
// none.
bool RingEngine::find_next(Task& task) {
  while (task.remaining.bytes.empty()) {
    if (task.next_write == task.plan.writes.size()) {
      return false;
    }
    task.write = &task.plan.writes[task.next_write++];
    task.remaining = task.plan.file->begin_write(task.write->offset, task.write->bytes);
  }
  return task.completion.code == ErrorCode::ok;
}

void RingEngine::ask_next(Task& task, const Request& request) {
  ++task.open;
  ask({.task = &task, .write = task.write, .request = request});
}

// Here and now, up to the first request that the kernel is asked for. False where there is none.
bool RingEngine::write_small(Task& task) {
  OutputFile& file = *task.plan.file;
  do {
    const Request request = file.take_request(task.remaining);
    if (request.direct) {
      ask_next(task, request);
      return true;
    }
    if (const int error = file.perform(request); error != 0) {
      fail(task, file.write_story(task.write->offset, task.write->bytes.size(), error));
    }
  } while (find_next(task));
  return false;
}

// Returns the number of a job while the kernel has it.
std::uint64_t RingEngine::keep(const Job& job) {
  const std::uint64_t tag = free_tags_.back();
  free_tags_.pop_back();
  jobs_[tag] = job;
  locking_ += job.kind == Job::Kind::flush ? 0 : 1;
  return tag;
}

// The caller has looked for room, and has counted the job as open.
void RingEngine::ask(Job job) {
  const int descriptor = job.task->plan.file->descriptor(job.request);
  switch (job.kind) {
    case Job::Kind::write:
      ask_write(job);
      break;
    case Job::Kind::sync:
      ring_.sync(descriptor, keep(job));
      break;
    case Job::Kind::flush:
      ring_.flush(descriptor, job.range, keep(job));
      break;
  }
}

void RingEngine::ask_write(Job job) {
  const OutputFile& file = *job.task->plan.file;
  if (file.is_fenced()) {
    answered(job, -ECANCELED);
    return;
  }
  const Request& request = job.request;
  const auto asked =
      request.bytes.first(std::min(request.bytes.size(), file.largest_call_bytes(request)));
  job.flushes_after = !request.direct && asked.size() >= large_bytes;
  ring_.write(file.descriptor(request), asked, request.offset, keep(job),
              job.flushes_after ? Ring::Then::next : Ring::Then::nothing);
  if (job.flushes_after) {
    ++job.task->open;
    Job flush{.kind = Job::Kind::flush, .task = job.task};
    flush.range = {.offset = request.offset, .bytes = std::ssize(asked)};
    ask(flush);
  }
}

void RingEngine::answered(const Job& job, std::int64_t result) {
  Task& task = *job.task;
  --task.open;
  const bool is_recalled = result == -ECANCELED && job.moves_to != nullptr;
  const bool is_cancelled = !is_recalled && result == -ECANCELED && job.kind != Job::Kind::flush &&
                            !task.plan.file->is_fenced();
  if (is_cancelled) {
    outlive_caller();
  }
  const bool is_put_off = result == -EINTR || result == -EAGAIN || is_cancelled;
  has_let_go_ = has_let_go_ || job.moves_to != nullptr;
  if (is_put_off && has_bug(Bug::put_off_is_done)) {
    // nothing is written
  } else if (is_recalled && has_bug(Bug::recalled_is_lost)) {
    // nothing is written
  } else if (is_recalled) {
    ask_again(job, job.request);
  } else if (is_put_off && job.kind != Job::Kind::flush && job.tries < most_tries) {
    ask_again(job, job.request);
    ++again_.back().tries;
  } else if (job.kind == Job::Kind::write) {
    answered_write(job, result);
  } else if (job.kind == Job::Kind::sync) {
    OutputFile& file = *task.plan.file;
    const int error = file.end_sync(result < 0 ? static_cast<int>(-result) : 0);
    if (error != 0) {
      fail(task, file.sync_story(error));
    }
  }  // a flush is a hint: where it fails, sync does the work and tells what is wrong
  settle(task);
}

// We cancel nothing but writes that move, and flushes behind a write. So the thread that asked has
// ended, and the next one may do the same.
void RingEngine::outlive_caller() {
  if (ring_.submits_by_thread()) {
    return;
  }
  try {
    ring_.submit_by_thread();
    log::info(
        "the thread that asked for writes has ended, and the kernel has cancelled them: a thread "
        "of iocomp asks from now on");
  } catch (const Error& error) {  // who calls next asks again
    log::warning(std::string{"a thread that has ended had asked for writes: "} + error.what());
  }
}

void RingEngine::answered_write(const Job& job, std::int64_t result) {
  Task& task = *job.task;
  OutputFile& file = *task.plan.file;
  const Answer answer = file.answered(job.request, result);
  if (answer.error != 0) {
    fail(task, file.write_story(job.write->offset, job.write->bytes.size(), answer.error));
  } else if (!answer.rest.bytes.empty()) {
    ask_again(job, answer.rest);
    again_.back().tries = 0;
  }
  const bool is_flushed = job.flushes_after && answer.flush && result == answer.flush->bytes;
  if (answer.flush && !is_flushed) {
    ++task.open;
    again_.push_back({.kind = Job::Kind::flush, .task = &task, .range = *answer.flush});
  }
}

// A job that was moved meanwhile is read from its new place.
void RingEngine::ask_again(Job job, const Request& rest) {
  const Request asked = std::exchange(job.request, rest);
  if (std::byte* const to = std::exchange(job.moves_to, nullptr); to != nullptr) {
    (void)Move{asked.bytes, to, 0, moved_}.apply(job.request.bytes);
  }
  ++job.task->open;
  again_.push_back(job);
}

// The last answer has come: begin the fsync, if asked for, then the completion.
void RingEngine::settle(Task& task) {
  if (task.open > 0 || !task.is_cut) {
    return;
  }
  if (task.plan.sync && !task.is_synced && task.completion.code == ErrorCode::ok) {
    task.is_synced = true;
    const int error = task.plan.file->begin_sync();
    if (error == 0) {
      ++task.open;
      again_.push_back({.kind = Job::Kind::sync, .task = &task});
      return;
    }
    fail(task, task.plan.file->sync_story(error));
  }
  Completion completion = std::move(task.completion);
  completion.seconds = now_seconds() - task.began;
  tasks_.erase(task.self);  // who sees the completion can count on the file being let go of
  completions_.push_back(std::move(completion));
}

// The first failure is the one that is told.
void RingEngine::fail(Task& task, std::string story) {
  if (task.completion.code == ErrorCode::ok) {
    task.completion.code = ErrorCode::storage_failure;
    task.completion.story = std::move(story);
  }
}

std::unique_ptr<Engine> start_ring_engine(const Options& options) {
  return std::make_unique<RingEngine>(options.workers);
}

}  // namespace iocomp::disk
