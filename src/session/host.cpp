// SPDX-License-Identifier: BSD-3-Clause
#include "session/host.h"

#include <unistd.h>

#include <array>
#include <string>

namespace iocomp::session {

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

}  // namespace iocomp::session
