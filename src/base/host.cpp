// SPDX-License-Identifier: BSD-3-Clause
#include "base/host.h"

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <string>

namespace iocomp {

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

bool is_child_of_fork() noexcept {
  static const pid_t first = getpid();
  return getpid() != first;
}

}  // namespace iocomp
