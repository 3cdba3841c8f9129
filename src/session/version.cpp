// SPDX-License-Identifier: BSD-3-Clause
#include "session/version.h"

#include <iocomp/version.h>

#include <cstdint>
#include <string>

#include "protocol/header.h"

namespace iocomp::session {

std::int64_t build_number() noexcept {
  return ((IOCOMP_VERSION_MAJOR * 1000LL + IOCOMP_VERSION_MINOR) * 1000LL + IOCOMP_VERSION_PATCH) *
             1000LL +
         protocol::version;
}

std::string release_text() {
  return std::to_string(IOCOMP_VERSION_MAJOR) + '.' + std::to_string(IOCOMP_VERSION_MINOR);
}

std::string version_text() {
  return std::string{"version "} + IOCOMP_VERSION_STRING + ", wire protocol " +
         std::to_string(protocol::version);
}

}  // namespace iocomp::session
