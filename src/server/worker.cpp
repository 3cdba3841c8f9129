// SPDX-License-Identifier: BSD-3-Clause
#include "server/worker.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp::server {

Worker::Worker(std::function<void()> completed)
    : tell_{std::move(completed)}, thread_{"iocomp-commit"} {}

void Worker::submit(std::uint64_t id, Job job) {
  thread_.submit(std::move(job), [this, id](const Outcome& outcome) {
    {
      const std::scoped_lock lock{mutex_};
      completed_.emplace_back(id, outcome);
    }
    tell_();
  });
}

std::vector<std::pair<std::uint64_t, Outcome>> Worker::take_completed() {
  const std::scoped_lock lock{mutex_};
  return std::exchange(completed_, {});
}

}  // namespace iocomp::server
