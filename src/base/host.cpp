// SPDX-License-Identifier: BSD-3-Clause
#include "base/host.h"

#include <unistd.h>

#include <array>
#include <string>

namespace iocomp {

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

}  // namespace iocomp
