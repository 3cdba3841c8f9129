// SPDX-License-Identifier: BSD-3-Clause
#include "commit/beats.h"

#include <fcntl.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "base/small_files.h"
#include "base/thread.h"

namespace iocomp::commit {

Beats::Beats(Path path, std::string job, BeatPace pace)
    : path_{std::move(path)}, job_{std::move(job)}, pace_{pace} {
  write(0);
  thread_ = start_thread("iocomp-lock", [this](const std::stop_token& stop) { beat(stop); });
}

// A write that fails is left out, and the next may succeed. No file is made if somebody has removed
// it.
void Beats::write(long number) const {
  (void)outcome_of([&] {
    if (const auto file = path_.folder().open_if_there(path_.name(), O_WRONLY)) {
      const std::string text = job_ + '\n' + std::to_string(number) + '\n';
      write_plainly(*file, 0, std::as_bytes(std::span{text}), path_.text());
    }
  });
}

void Beats::beat(const std::stop_token& stop) const {
  std::mutex mutex;
  std::condition_variable_any nobody_rings;  // only a stop wakes it
  std::unique_lock lock{mutex};
  for (long number = 1; !stop.stop_requested(); ++number) {
    nobody_rings.wait_for(lock, stop, pace_.interval, [] { return false; });
    if (!stop.stop_requested()) {
      write(number);
    }
  }
}

bool beats(const Path& path, BeatPace pace) {
  const auto first = read_file(path);
  const auto end = std::chrono::steady_clock::now() + pace.silence;
  while (first && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(pace.interval / 2);
    const auto now = read_file(path);
    if (now != first) {
      return now.has_value();
    }
  }
  return false;
}

}  // namespace iocomp::commit
