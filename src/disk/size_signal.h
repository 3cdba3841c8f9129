// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

namespace iocomp::disk {

/// While it lives, a write of this thread beyond the limit of file sizes is an error to be told
/// (EFBIG) instead of a SIGXFSZ that ends the process.
class SizeSignalHeld {
 public:
  SizeSignalHeld() noexcept;
  SizeSignalHeld(const SizeSignalHeld&) = delete;
  SizeSignalHeld& operator=(const SizeSignalHeld&) = delete;
  ~SizeSignalHeld();

 private:
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace iocomp::disk
