// SPDX-License-Identifier: BSD-3-Clause
#include "base/signals.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"

namespace iocomp {
namespace {

struct Named {
  std::string_view name;
  int number;
};
constexpr std::array known{Named{"HUP", SIGHUP},   Named{"INT", SIGINT},   Named{"QUIT", SIGQUIT},
                           Named{"USR1", SIGUSR1}, Named{"USR2", SIGUSR2}, Named{"TERM", SIGTERM},
                           Named{"XCPU", SIGXCPU}, Named{"URG", SIGURG},   Named{"CONT", SIGCONT}};
constexpr std::size_t most = 64;

struct Watched {
  std::atomic<bool> has_come{false};
  int watchers = 0;           // guarded by `changing`
  struct sigaction before{};  // set before the handler is, and then left alone
};
static_assert(std::atomic<bool>::is_always_lock_free);  // a handler may touch nothing else

std::mutex changing;
std::array<Watched, most> all;

Watched& watched(int signal) noexcept { return all[static_cast<std::size_t>(signal)]; }

extern "C" void remember(int signal, siginfo_t* about, void* context) {
  Watched& one = watched(signal);
  one.has_come.store(true, std::memory_order_relaxed);
  if ((one.before.sa_flags & SA_SIGINFO) != 0) {
    one.before.sa_sigaction(signal, about, context);
  } else if (one.before.sa_handler != SIG_DFL && one.before.sa_handler != SIG_IGN) {
    one.before.sa_handler(signal);
  }
}

}  // namespace

std::optional<int> signal_named(std::string_view name) {
  const std::string upper = upper_case(name);
  const std::string_view word{upper};
  const auto* const found =
      std::ranges::find(known, word.starts_with("SIG") ? word.substr(3) : word, &Named::name);
  return found == known.end() ? std::nullopt : std::optional{found->number};
}

SignalWatch::SignalWatch(std::vector<int> signals) : signals_{std::move(signals)} {
  const std::scoped_lock lock{changing};
  for (const int signal : signals_) {
    Watched& one = watched(signal);
    if (one.watchers++ > 0) {
      continue;
    }
    one.has_come = false;
    struct sigaction action{};
    action.sa_sigaction = remember;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    // Asked first: the handler may run before sigaction has returned.
    sigaction(signal, nullptr, &one.before);
    sigaction(signal, &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  const std::scoped_lock lock{changing};
  for (const int signal : signals_) {
    Watched& one = watched(signal);
    if (--one.watchers > 0) {
      continue;
    }
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == remember) {
      sigaction(signal, &one.before, nullptr);  // else the program has set its own since
    }
  }
}

void SignalWatch::ignore_afterwards() const {
  const std::scoped_lock lock{changing};
  for (const int signal : signals_) {
    struct sigaction& before = watched(signal).before;
    if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL) {
      before.sa_handler = SIG_IGN;  // to the handler, which may run now, both are the same
    }
  }
}

bool SignalWatch::watches(int signal) const noexcept {
  return std::ranges::count(signals_, signal) > 0;
}

bool SignalWatch::has_come() const noexcept {
  return std::ranges::any_of(signals_, [](int signal) {
    return watched(signal).has_come.load(std::memory_order_relaxed);
  });
}

}  // namespace iocomp
