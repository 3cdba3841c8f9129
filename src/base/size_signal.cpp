// SPDX-License-Identifier: BSD-3-Clause
#include "base/size_signal.h"

#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <ctime>

namespace iocomp {
namespace {

// The same for all sessions and threads of the process.
std::atomic<bool> is_limited{false};

bool look_for_limit() noexcept {
  rlimit limit{};
  const bool found = ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
  is_limited.store(found, std::memory_order_relaxed);
  return found;
}

sigset_t size_signal() noexcept {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGXFSZ);
  return only;
}

bool is_pending() noexcept {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

SizeSignalHeld::SizeSignalHeld(If when) noexcept
    : holds_{
          when == If::always ||
          (when == If::limited ? look_for_limit() : is_limited.load(std::memory_order_relaxed))} {
  if (holds_) {
    const sigset_t only = size_signal();
    pthread_sigmask(SIG_BLOCK, &only, &before_);
    was_pending_ = is_pending();
  }
}

SizeSignalHeld::~SizeSignalHeld() {
  if (!holds_) {
    return;
  }
  if (!was_pending_ && is_pending()) {
    const sigset_t only = size_signal();
    const timespec now{};
    sigtimedwait(&only, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace iocomp
