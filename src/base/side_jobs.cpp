// SPDX-License-Identifier: BSD-3-Clause
#include "base/side_jobs.h"

#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/worker.h"

namespace iocomp {

bool SideJobs::has_thread() {
  if (!thread_) {
    (void)outcome_of([this] { thread_.emplace(name_); });
  }
  return thread_.has_value();
}

void SideJobs::run(Job job, Then then) {
  if (under_way_ == 0 && !(goes_beside_ && has_thread())) {
    then(Worker::outcome_of_job(job));
    return;
  }
  ++under_way_;
  thread_->submit(std::move(job), [this, then = std::move(then)](const Outcome& outcome) {
    {
      const std::scoped_lock lock{mutex_};
      ended_.emplace_back(then, outcome);
      has_ended_.notify_one();
    }
    if (tell_) {
      tell_();
    }
  });
}

SideJobs::Ended SideJobs::take() {
  const std::scoped_lock lock{mutex_};
  return std::exchange(ended_, {});
}

void SideJobs::wait() {
  std::unique_lock lock{mutex_};
  has_ended_.wait(lock, [this] { return !ended_.empty(); });
}

bool SideJobs::advance() {
  if (under_way_ == 0) {
    return false;
  }
  const Ended ended = take();
  for (const auto& [then, outcome] : ended) {
    --under_way_;
    then(outcome);
  }
  return !ended.empty();
}

void SideJobs::finish() {
  while (under_way_ > 0) {
    wait();
    (void)advance();
  }
}

void SideJobs::end() {
  while (under_way_ > 0) {
    wait();
    under_way_ -= static_cast<int>(take().size());
  }
}

}  // namespace iocomp
