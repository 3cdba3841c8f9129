// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "base/error.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/start_ring.h"

namespace iocomp::disk {

std::unique_ptr<Engine> start_ring_engine(const Options& /*options*/) {
  throw Error{ErrorCode::unsupported, "liburing was missing when iocomp was built"};
}

}  // namespace iocomp::disk
