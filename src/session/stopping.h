// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "base/signals.h"
#include "config/settings.h"

namespace iocomp::session {

/// Seconds since 1970 of a setting such as "2026-11-23T18:00" (local time) or "1795456800".
[[nodiscard]] std::optional<double> moment(const std::string& text);

/// The end of the job as far as this rank knows: signals that have come, and the time that is left.
class Stopping {
 public:
  /// @throws Error{invalid_setting} for signals and times that are none.
  Stopping(const config::Settings& settings, bool warns);

  /// True if a signal is one of those that tell to stop.
  [[nodiscard]] bool catches(int signal) const noexcept { return signals_.watches(signal); }
  /// The reason why the program should stop now, as far as this rank knows; empty: it need not.
  [[nodiscard]] std::string reason() const;

 private:
  SignalWatch signals_;
  std::string signal_names_;
  std::optional<double> moment_;  // s since 1970
};

}  // namespace iocomp::session
