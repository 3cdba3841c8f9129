// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

namespace iocomp {

/// "SIGTERM" or "TERM" in any case, of those that end a process and can be caught; else nothing.
[[nodiscard]] std::optional<int> signal_named(std::string_view name);

/// Threads started while one lives inherit the mask: the application's signals stay with its own
/// threads, and a write beyond the limit of file sizes is an error to be told instead of a SIGXFSZ
/// that ends the process.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept;
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked();

 private:
  sigset_t before_{};
};

/// While one lives, its signals do not end the process: they are remembered. A handler that was
/// there before is called too. Several may want the same signal.
class SignalWatch {
 public:
  explicit SignalWatch(std::vector<int> signals);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// The last one of a signal puts back what was there.
  ~SignalWatch();

  [[nodiscard]] bool watches(int signal) const noexcept;
  /// Whether any of them has come since somebody has watched it.
  [[nodiscard]] bool has_come() const noexcept;

 private:
  std::vector<int> signals_;
};

}  // namespace iocomp
