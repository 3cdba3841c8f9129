// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <cstdint>

namespace iocomp {

/// While it lives, a write of this thread beyond the limit of file sizes (`ulimit -f`) is an error
/// to be told (EFBIG, "File too large") instead of a SIGXFSZ that ends the process. What the
/// program does with the signal stays as it is.
///
/// Each way into the library holds one: the calls of iocomp.h, and MPI_Finalize. Threads of the
/// library have all signals blocked.
class SizeSignalHeld {
 public:
  enum class If : std::uint8_t {
    always,
    limited,       ///< where there is a limit; asking takes a call of the system
    known_limited  ///< where there was one when somebody asked last, for calls that are made often
  };
  explicit SizeSignalHeld(If when = If::always) noexcept;
  SizeSignalHeld(const SizeSignalHeld&) = delete;
  SizeSignalHeld& operator=(const SizeSignalHeld&) = delete;
  ~SizeSignalHeld();

 private:
  sigset_t before_{};
  bool holds_;
  bool was_pending_ = false;
};

}  // namespace iocomp
