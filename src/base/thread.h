// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace iocomp {

/// Start a thread of the library: nothing else in it does. The application's signals stay with its
/// own threads, and a write beyond the limit of file sizes is an error to be told.
/// @param name  for those who look at the process: 15 letters at most.
/// @throws std::system_error where the system gives none.
[[nodiscard]] std::jthread start_thread(const std::string& name,
                                        std::function<void(const std::stop_token&)> body);

/// From now on the calling thread may run on every processor that the parent of the process has,
/// which is the launcher, wherever that has bound the process.
void run_anywhere() noexcept;
/// The same, with the lowest priority: it takes time that nobody else wants.
void take_idle_time() noexcept;

}  // namespace iocomp
