// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fiber.h"
#include "random.h"

namespace simulation {

using Nanoseconds = std::int64_t;
constexpr Nanoseconds microsecond = 1000;
constexpr Nanoseconds millisecond = 1000 * microsecond;
constexpr Nanoseconds second = 1000 * millisecond;
constexpr Nanoseconds never = INT64_MAX;

/// Processes, each with threads, on one clock, in one thread of the system. What runs next, and how
/// long things take, is decided by the seed.
class World {
 public:
  // Large histories take 300,000.
  static constexpr std::uint64_t most_turns = 10'000'000;
  static constexpr std::uint64_t most_turns_at_once = 1'000'000;

  explicit World(std::uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// That in whose processes the caller runs, or nothing.
  [[nodiscard]] static World* current() noexcept;

  int add_process(std::string name, std::function<void()> main);
  /// In the process of the caller. @return its number, not 0.
  std::uint64_t add_thread(std::function<void()> body);
  /// Call this from outside when the time has come.
  void at(Nanoseconds time, std::function<void()> action);

  /// Until all processes have ended or were killed, nothing can move any more, or the time is over.
  /// A loop that lets no time pass, or very little, ends it too: see `is_endless`.
  void run(Nanoseconds until);
  /// True if it was ended because its threads went on for too many turns.
  [[nodiscard]] bool is_endless() const noexcept {
    return turns_ >= most_turns || turns_at_once_ >= most_turns_at_once;
  }
  void kill(int process);
  /// Whatever it does, it does later.
  void stop(int process, Nanoseconds until);
  [[nodiscard]] bool is_alive(int process) const;
  [[nodiscard]] bool is_stopped(int process) const;
  /// Called with the number of each process when it has ended or was killed.
  void when_ended(std::function<void(int)> action) { ended_ = std::move(action); }
  [[nodiscard]] int processes() const noexcept { return static_cast<int>(processes_.size()); }
  [[nodiscard]] const std::string& name(int process) const;

  [[nodiscard]] Nanoseconds now() const noexcept { return now_; }
  [[nodiscard]] Random& random() noexcept { return random_; }
  /// The number of times that a thread went on: the size of a history.
  [[nodiscard]] std::uint64_t turns() const noexcept { return turns_; }

  // For the caller, a thread of a process:
  [[nodiscard]] int process() const noexcept;
  [[nodiscard]] std::uint64_t thread() const noexcept;
  /// The processor time that the thread has taken.
  [[nodiscard]] Nanoseconds computed() const noexcept { return threads_[current_ - 1].computed; }
  /// Something takes about that long; meanwhile others may run.
  void spend(Nanoseconds about);
  /// The same in a call of the system, which a stopped process ends before it stops.
  void spend_in_call(Nanoseconds about);
  /// A call of a stopped process returns when the process goes on.
  void return_from_call();
  void sleep(Nanoseconds time);
  /// Until somebody wakes those that sleep at one of the places, or the time has come.
  /// @return whether somebody woke it.
  bool sleep_at(const std::vector<const void*>& places, Nanoseconds until);
  void wake(const void* place, int most);
  void join(std::uint64_t thread);
  /// Its process ends here and now.
  [[noreturn]] void end();

  /// A thread that wakes sleepers at the place calls this instead, once. @return a number for
  /// `forget`.
  std::uint64_t watch(const void* place, std::function<void()> action);
  /// @return whether it had not been called.
  bool forget(std::uint64_t watch) { return watches_.erase(watch) == 1; }

 private:
  struct Thread {
    std::unique_ptr<Fiber> fiber;
    int process = 0;
    std::uint64_t turn = 0;             // of wake-ups, only that with this number counts
    std::vector<const void*> places{};  // where it sleeps
    Nanoseconds spent = 0;              // that the clock does not show yet
    Nanoseconds computed = 0;
    bool was_woken = false;
    bool is_in_call = false;
  };
  struct Process {
    std::string name;
    bool is_alive = true;
    std::uint64_t main = 0;  // its first thread; with that it ends
    Nanoseconds stopped_until = 0;
  };
  struct Watch {
    const void* place;
    std::function<void()> action;
  };
  struct Event {
    Nanoseconds time;
    std::uint64_t order;
    std::uint64_t thread;  // 0: an action
    std::uint64_t turn;
    bool operator>(const Event& other) const noexcept {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  std::uint64_t start(int process, std::function<void()> body);
  void go_on(std::uint64_t thread, Nanoseconds time);
  void pause();
  void resume(std::uint64_t thread);
  void begin_turn(Thread& who);
  /// True if the caller would be the next to go on if it slept until then.
  [[nodiscard]] bool nothing_comes_before(Nanoseconds time) const;
  Random random_;
  Nanoseconds now_ = 0;
  Nanoseconds until_ = never;
  std::uint64_t order_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t turns_at_once_ = 0;  // since the clock has moved
  int alive_ = 0;                    // processes
  std::uint64_t current_ = 0;
  std::function<void(int)> ended_;
  std::map<std::uint64_t, Watch> watches_;
  std::uint64_t last_watch_ = 0;
  std::deque<Process> processes_;
  std::deque<Thread> threads_;  // by number - 1
  std::unordered_map<std::uint64_t, std::function<void()>>
      actions_;  // by the order of their events
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace simulation
