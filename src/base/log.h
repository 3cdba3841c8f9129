// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace iocomp::log {

enum class Level { silent, error, warning, info, debug };

/// Set which lines are printed, and the name of this process in them: "compute 3", "server 1".
/// Process-wide; set once by the session. Silent until then.
void configure(Level level, std::string_view who);
[[nodiscard]] bool enabled(Level level) noexcept;

/// One line "2026-11-21T10:00:00.123 warning server 1: text" to stderr, in one write. Thread-safe.
/// Never called per message: count, and report at the end.
void write(Level level, std::string_view text);

inline void error(std::string_view text) { write(Level::error, text); }
inline void warning(std::string_view text) { write(Level::warning, text); }
inline void info(std::string_view text) { write(Level::info, text); }
inline void debug(std::string_view text) { write(Level::debug, text); }

}  // namespace iocomp::log
