// SPDX-License-Identifier: BSD-3-Clause
#include "client/waiting.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "client/remote/servers.h"
#include "mpi/wait.h"
#include "trace/event.h"
#include "trace/span.h"
#include "transport/transport.h"

namespace iocomp::client {
namespace {

// The longest sleep if every arrival wakes this rank. It is long enough to cost nothing, and short
// beside any deadline.
constexpr std::chrono::milliseconds longest_sleep{100};
// The time that other servers have to answer when one is silent.
constexpr double seconds_beside_a_silent_server = 0.1;

}  // namespace

void Waiting::move_with(std::function<bool()> mover, Sleep sleep) {
  mover_ = std::move(mover);
  sleep_ = std::move(sleep);
}

void Waiting::hold_back(double seconds) {
  *held_back_until_ = std::max(*held_back_until_, now_seconds()) + seconds;
}

bool Waiting::pump() {
  const bool moved = mover_ && mover_();
  if (!servers_.are_there()) {
    return moved;
  }
  servers_.look_for_loss(false);
  return servers_.receive() || moved;
}

void Waiting::wait_until(const std::function<bool()>& done,
                         const std::function<std::string()>& what) {
  if (done()) {
    return;
  }
  auto* const timeline = counters_.timeline();
  const trace::Span span{
      timeline, trace::What::wait, {.text = timeline == nullptr ? std::string{} : what()}};
  mpi::Nap nap;
  mpi::Deadline deadline{policy_};
  bool has_asked = false;
  while (!done()) {
    if (servers_.are_there()) {
      servers_.look_for_loss(true);
      if (servers_.loss() && !done()) {
        throw ServersLost{};
      }
    }
    if (pump() || sleep(nap)) {
      nap.reset();
      deadline.moved();
      continue;
    }
    if (!has_asked && deadline.is_long()) {
      has_asked = true;
      servers_.ask_for_an_answer();
      (void)pump();  // messages that follow a question are no progress
    }
    check(deadline, what);
  }
}

void Waiting::check(mpi::Deadline& deadline, const std::function<std::string()>& what) {
  const auto silent = servers_.silent();
  if (silent && deadline.idle_seconds() > seconds_beside_a_silent_server) {
    throw Error{ErrorCode::timed_out, *silent + ", so nobody waits again for " + what()};
  }
  try {
    deadline.check(what);
  } catch (const Error& error) {
    servers_.conclude_silence();
    const auto found = servers_.silent();
    throw Error{error.code(), error.what() + (found ? "; " + *found : std::string{})};
  }
}

// Sleeps once, shortly. @return true if something had come before the sleep.
bool Waiting::sleep(mpi::Nap& nap) {
  bool moved = false;
  const auto sleep_for = [&](std::chrono::nanoseconds longest) {
    const auto word = servers_.are_there() ? servers_.transport()->watch() : std::nullopt;
    if (!word) {
      sleep_ ? sleep_(longest, word) : std::this_thread::sleep_for(longest);
      return;
    }
    // A sender wakes this process from here on. Messages of before are found by one more look.
    moved = pump();
    if (!moved) {
      sleep_ ? sleep_(longest, word) : futex_wait(*word, longest);
    }
    servers_.transport()->unwatch();
  };
  const bool is_woken = servers_.are_there() && !servers_.transport()->needs_looks();
  if (is_woken) {
    sleep_for(longest_sleep);
  } else {
    nap.pause(sleep_for);
  }
  return moved;
}

bool Waiting::wait_for_end_of_servers() {
  const Outcome ended = outcome_of([this] {
    mpi::Nap nap;
    mpi::Deadline deadline{policy_};
    while (!servers_.are_gone()) {
      nap.pause();
      deadline.check([] { return std::string{"the other servers to leave the file"}; });
    }
  });
  while (servers_.receive()) {
  }
  return ended.ok();
}

}  // namespace iocomp::client
