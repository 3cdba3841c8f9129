// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/early_copy.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/thread.h"
#include "base/worker.h"
#include "client/tickets.h"

namespace iocomp::client {

EarlyCopy::EarlyCopy(std::shared_ptr<Worker> thread, std::span<const std::byte> from, Copy to)
    : thread_{std::move(thread)}, to_{std::move(to)} {
  const auto copy = [from, to = to_.get(), copying = copying_] {
    // Copied at once: whoever calls `end` waits for no more than that.
    constexpr std::size_t part_bytes = std::size_t{1} << 20;
    take_idle_time();
    std::size_t done = 0;
    while (done < from.size()) {
      const std::scoped_lock lock{copying->mutex};
      if (copying->is_ended) {
        return;
      }
      const auto part = from.subspan(done, std::min(from.size() - done, part_bytes));
      std::ranges::copy(part, to + done);
      copying->done_bytes = done += part.size();
    }
  };
  thread_->submit(copy, [](const Outcome& /*it does not fail*/) {});
}

std::size_t EarlyCopy::end() {
  copying_->is_ended = true;  // first, because the thread may be the next to get the mutex
  const std::scoped_lock lock{copying_->mutex};
  return std::exchange(copying_->done_bytes, 0);
}

}  // namespace iocomp::client
