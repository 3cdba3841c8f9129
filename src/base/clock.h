#pragma once

#include <chrono>

namespace iocomp {

/// Seconds of a clock that only goes forward; the zero is arbitrary and differs between nodes.
[[nodiscard]] inline double now_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace iocomp
