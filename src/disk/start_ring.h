// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "disk/engine.h"
#include "disk/options.h"

namespace iocomp::disk {

/// An engine over io_uring.
/// @throws Error{unsupported} with nothing but the reason why there can be none.
[[nodiscard]] std::unique_ptr<Engine> start_ring_engine(const Options& options);

}  // namespace iocomp::disk
