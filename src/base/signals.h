// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

namespace iocomp {

/// "SIGTERM" or "TERM" in any case, of those that end a process and can be caught; else nothing.
[[nodiscard]] std::optional<int> signal_named(std::string_view name);

/// While one lives, its signals do not end the process: they are remembered. A handler that was
/// there before is called too. Several may want the same signal.
class SignalWatch {
 public:
  explicit SignalWatch(std::vector<int> signals);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// The last watch of a signal puts back the handler that was there before.
  ~SignalWatch();
  /// These signals do not end the process later either: launchers send them node by node, and a
  /// program that was told to stop may have ended its last session by then.
  void ignore_afterwards() const;

  [[nodiscard]] bool watches(int signal) const noexcept;
  /// True if any of them has come since somebody has watched it.
  [[nodiscard]] bool has_come() const noexcept;

 private:
  std::vector<int> signals_;
};

}  // namespace iocomp
