// SPDX-License-Identifier: BSD-3-Clause
#include "world.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace simulation {
namespace {

World* entered = nullptr;

}  // namespace

World::World(std::uint64_t seed) : random_{seed} {}
World::~World() = default;

World* World::current() noexcept { return entered; }

int World::add_process(std::string name, std::function<void()> main) {
  const int process = processes();
  processes_.push_back({.name = std::move(name)});
  ++alive_;
  processes_.back().main = start(process, std::move(main));
  return process;
}

std::uint64_t World::add_thread(std::function<void()> body) {
  return start(process(), std::move(body));
}

std::uint64_t World::start(int process, std::function<void()> body) {
  threads_.push_back({.fiber = std::make_unique<Fiber>(std::move(body)), .process = process});
  const std::uint64_t thread = threads_.size();
  go_on(thread, now_ + random_.below(microsecond));
  return thread;
}

void World::at(Nanoseconds time, std::function<void()> action) {
  actions_.emplace(order_, std::move(action));
  events_.push({std::max(time, now_), order_++, 0, 0});
}

void World::go_on(std::uint64_t thread, Nanoseconds time) {
  events_.push({time, order_++, thread, threads_[thread - 1].turn});
}

void World::run(Nanoseconds until) {
  until_ = until;
  while (!events_.empty() && alive_ > 0 && !is_endless()) {
    if (events_.top().time > until) {
      now_ = until;
      return;
    }
    const Event event = events_.top();
    events_.pop();
    turns_at_once_ = event.time > now_ ? 0 : turns_at_once_;
    now_ = std::max(now_, event.time);
    if (event.thread == 0) {
      actions_.extract(event.order).mapped()();
    } else if (threads_[event.thread - 1].turn == event.turn) {
      resume(event.thread);
    }
  }
}

void World::begin_turn(Thread& who) {
  ++who.turn;
  ++turns_;
  ++turns_at_once_;
  who.places.clear();
}

void World::resume(std::uint64_t thread) {
  Thread& who = threads_[thread - 1];
  Process& process = processes_[static_cast<std::size_t>(who.process)];
  if (!process.is_alive || !who.fiber) {
    return;
  }
  if (process.stopped_until > now_ && !who.is_in_call) {
    go_on(thread, process.stopped_until);
    return;
  }
  begin_turn(who);
  current_ = thread;
  entered = this;
  who.fiber->resume();
  entered = nullptr;
  current_ = 0;
  if (who.fiber->has_ended()) {
    who.fiber.reset();
    wake(&who, static_cast<int>(threads_.size()));
    if (thread == process.main) {
      kill(who.process);
    }
  }
}

void World::kill(int process) {
  Process& killed = processes_[static_cast<std::size_t>(process)];
  if (killed.is_alive) {
    killed.is_alive = false;
    --alive_;
    if (ended_) {
      ended_(process);
    }
  }
}

void World::end() {
  kill(process());
  pause();
  std::abort();
}

void World::stop(int process, Nanoseconds until) {
  processes_[static_cast<std::size_t>(process)].stopped_until = until;
}

bool World::is_alive(int process) const {
  return processes_[static_cast<std::size_t>(process)].is_alive;
}

bool World::is_stopped(int process) const {
  return processes_[static_cast<std::size_t>(process)].stopped_until > now_;
}

const std::string& World::name(int process) const {
  return processes_[static_cast<std::size_t>(process)].name;
}

int World::process() const noexcept { return threads_[current_ - 1].process; }
std::uint64_t World::thread() const noexcept { return current_; }

void World::pause() {
  Fiber& fiber = *threads_[current_ - 1].fiber;
  fiber.yield();
}

void World::spend(Nanoseconds about) {
  constexpr Nanoseconds short_time = 2 * microsecond;
  Thread& thread = threads_[current_ - 1];
  const Nanoseconds now = random_.between(about / 2, 2 * about);
  thread.computed += thread.is_in_call ? 0 : now;  // calls wait for the disk
  Nanoseconds& spent = thread.spent;
  spent += now;
  if (spent >= short_time || random_.chance(1, 4)) {
    sleep(0);
  }
}

void World::spend_in_call(Nanoseconds about) {
  const std::uint64_t thread = current_;
  threads_[thread - 1].is_in_call = true;
  spend(about);
  threads_[thread - 1].is_in_call = false;
}

void World::return_from_call() {
  while (is_stopped(process())) {
    go_on(current_, processes_[static_cast<std::size_t>(process())].stopped_until);
    pause();
  }
}

void World::sleep(Nanoseconds time) {
  Thread& who = threads_[current_ - 1];
  const Nanoseconds until = now_ + time + std::exchange(who.spent, 0);
  if (nothing_comes_before(until)) {  // the same without going round
    ++order_;
    turns_at_once_ = until > now_ ? 0 : turns_at_once_;
    now_ = until;
    begin_turn(who);
    return;
  }
  go_on(current_, until);
  pause();
}

bool World::nothing_comes_before(Nanoseconds time) const {
  const Thread& who = threads_[current_ - 1];
  const Process& process = processes_[static_cast<std::size_t>(who.process)];
  return process.is_alive && (process.stopped_until <= time || who.is_in_call) && time <= until_ &&
         !is_endless() && (events_.empty() || events_.top().time > time);
}

bool World::sleep_at(const std::vector<const void*>& places, Nanoseconds until) {
  const std::uint64_t thread = current_;
  threads_[thread - 1].places = places;
  threads_[thread - 1].was_woken = false;
  if (until != never) {
    go_on(thread, until);
  }
  pause();
  return threads_[thread - 1].was_woken;
}

std::uint64_t World::watch(const void* place, std::function<void()> action) {
  watches_.emplace(++last_watch_, Watch{place, std::move(action)});
  return last_watch_;
}

void World::wake(const void* place, int most) {
  for (auto watch = watches_.begin(); watch != watches_.end() && most > 0;) {
    if (watch->second.place == place) {
      at(now_ + random_.between(1, 5 * microsecond), std::move(watch->second.action));
      watch = watches_.erase(watch);
      --most;
    } else {
      ++watch;
    }
  }
  for (std::uint64_t thread = 1; thread <= threads_.size() && most > 0; ++thread) {
    Thread& who = threads_[thread - 1];
    if (std::ranges::find(who.places, place) != who.places.end()) {
      who.places.clear();
      who.was_woken = true;
      go_on(thread, now_ + random_.between(1, 5 * microsecond));
      --most;
    }
  }
}

void World::join(std::uint64_t thread) {
  while (threads_[thread - 1].fiber) {
    sleep_at({&threads_[thread - 1]}, never);
  }
}

}  // namespace simulation
