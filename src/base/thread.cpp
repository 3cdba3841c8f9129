// SPDX-License-Identifier: BSD-3-Clause
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace iocomp {
namespace {

/// Threads that are started while one lives inherit the mask.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

std::jthread start_thread(const std::string& name,
                          std::function<void(const std::stop_token&)> body) {
  const AllSignalsBlocked blocked;
  std::jthread thread{std::move(body)};
  pthread_setname_np(thread.native_handle(), name.c_str());
  return thread;
}

void run_anywhere() noexcept {
  cpu_set_t all;
  if (::sched_getaffinity(::getppid(), sizeof all, &all) == 0) {
    (void)::sched_setaffinity(0, sizeof all, &all);
  }
}

void take_idle_time() noexcept {
  constexpr int least_priority = 19;
  (void)::setpriority(PRIO_PROCESS, 0, least_priority);  // on Linux, of the thread alone
  run_anywhere();
}

}  // namespace iocomp
