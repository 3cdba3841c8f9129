// SPDX-License-Identifier: BSD-3-Clause
#include "base/host.h"

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

namespace iocomp {

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

namespace {

std::atomic<pid_t> noted = 0;

}  // namespace

void note_process() noexcept { noted = getpid(); }

bool is_child_of_fork() noexcept {
  const pid_t process = noted;
  return process != 0 && process != getpid();
}

}  // namespace iocomp
