// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/chunk_threads.h"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker.h"

namespace iocomp::formats::h5 {

/// Jobs that are waited for together.
struct ChunkThreads::Batch {
  explicit Batch(std::size_t jobs) : left{jobs}, outcomes(jobs) {}

  void ended(std::size_t job, Outcome outcome) {
    const std::scoped_lock lock{mutex};
    outcomes[job] = std::move(outcome);
    if (--left == 0) {
      all_ended.notify_all();
    }
  }

  Outcome wait() {
    std::unique_lock lock{mutex};
    all_ended.wait(lock, [this] { return left == 0; });
    for (Outcome& outcome : outcomes) {
      if (!outcome.ok()) {
        return std::move(outcome);
      }
    }
    return {};
  }

  std::mutex mutex;
  std::condition_variable all_ended;
  std::size_t left;  // guarded by the mutex, like the next
  std::vector<Outcome> outcomes;
};

ChunkThreads::ChunkThreads(int threads) : threads_{threads} {}

ChunkThreads::~ChunkThreads() { (void)finish(); }

void ChunkThreads::submit(const std::vector<Job>& jobs, const std::shared_ptr<Batch>& batch) {
  if (threads_ > 1 && !worker_ && !jobs.empty()) {
    const Outcome started =
        outcome_of([this] { worker_ = std::make_unique<Worker>("iocomp-writing", threads_); });
    threads_ = started.ok() ? threads_ : 1;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto end = [batch, i](const Outcome& outcome) { batch->ended(i, outcome); };
    if (worker_) {
      worker_->submit(jobs[i], end);
    } else {
      end(Worker::outcome_of_job(jobs[i]));
    }
  }
}

Outcome ChunkThreads::run(const std::vector<Job>& jobs) {
  const auto batch = std::make_shared<Batch>(jobs.size());
  submit(jobs, batch);
  return batch->wait();
}

void ChunkThreads::begin(Job job) {
  beside_ = std::make_shared<Batch>(1);
  submit({std::move(job)}, beside_);
}

Outcome ChunkThreads::finish() {
  const auto batch = std::exchange(beside_, nullptr);
  return batch ? batch->wait() : Outcome{};
}

}  // namespace iocomp::formats::h5
