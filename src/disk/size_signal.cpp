// SPDX-License-Identifier: BSD-3-Clause
#include "disk/size_signal.h"

#include <pthread.h>

#include <csignal>
#include <ctime>

namespace iocomp::disk {
namespace {

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

SizeSignalHeld::SizeSignalHeld() noexcept {
  const sigset_t only = size_signal();
  pthread_sigmask(SIG_BLOCK, &only, &before_);
  was_pending_ = is_pending();
}

SizeSignalHeld::~SizeSignalHeld() {
  if (!was_pending_ && is_pending()) {
    const sigset_t only = size_signal();
    const timespec now{};
    sigtimedwait(&only, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace iocomp::disk
