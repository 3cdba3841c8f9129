// SPDX-License-Identifier: BSD-3-Clause
#include "client/side_jobs.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/worker.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::client {

SideJobs::SideJobs(Of of, trace::Counters& counters, std::string file_name)
    : of_{of}, counters_{counters}, file_name_{std::move(file_name)} {}

bool SideJobs::has_thread() {
  if (!thread_) {
    (void)outcome_of(
        [this] { thread_.emplace(of_ == Of::commits ? "iocomp-commit" : "iocomp-write"); });
  }
  return thread_.has_value();
}

void SideJobs::run(Job job, Then then) {
  if (under_way_ > 0 || (goes_beside_ && has_thread())) {
    submit(std::move(job), std::move(then));
    return;
  }
  if (of_ == Of::writers) {
    then(outcome_of(job));
    return;
  }
  Outcome outcome;
  {
    const trace::Timer timer{
        counters_, trace::Counter::commit_seconds, trace::What::commit, {.file = file_name_}};
    outcome = outcome_of(job);
  }
  then(outcome);
}

void SideJobs::submit(Job job, Then then) {
  ++under_way_;
  const double begin = now_seconds();
  trace::Recorder record{counters_.timeline(), file_name_};
  thread_->submit(std::move(job), [this, begin, record = std::move(record),
                                   then = std::move(then)](const Outcome& outcome) {
    if (of_ == Of::commits) {
      record(trace::What::commit, begin, {});
    }
    const std::scoped_lock lock{mutex_};
    ended_.push_back({then, outcome, now_seconds() - begin});
    has_ended_.notify_one();
  });
}

bool SideJobs::advance() {
  if (under_way_ == 0) {
    return false;
  }
  std::vector<Ended> ended;
  {
    const std::scoped_lock lock{mutex_};
    ended.swap(ended_);
  }
  for (const Ended& one : ended) {
    --under_way_;
    if (of_ == Of::commits) {
      counters_.add(trace::Counter::commit_seconds, one.seconds);
    }
    one.then(one.outcome);
  }
  return !ended.empty();
}

void SideJobs::finish() {
  while (under_way_ > 0) {
    {
      std::unique_lock lock{mutex_};
      has_ended_.wait(lock, [this] { return !ended_.empty(); });
    }
    (void)advance();
  }
}

}  // namespace iocomp::client
