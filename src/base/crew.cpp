// SPDX-License-Identifier: BSD-3-Clause
#include "base/crew.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker.h"

namespace iocomp {
class Crew::Batch {
 public:
  explicit Batch(std::vector<Job> jobs)
      : jobs_{std::move(jobs)}, left_{jobs_.size()}, outcomes_(jobs_.size()) {}

  /// Do what nobody has begun.
  void help() {
    while (help_once()) {
    }
  }

  /// Do one job that nobody has begun. @return whether there was one.
  bool help_once() {
    std::size_t job = 0;
    {
      const std::scoped_lock lock{mutex_};
      if (next_ == jobs_.size()) {
        return false;
      }
      job = next_++;
    }
    do_job(job);
    return true;
  }

  [[nodiscard]] bool has_ended() {
    const std::scoped_lock lock{mutex_};
    return left_ == 0;
  }

  /// Do this one. @pre nobody else does: `reserve_all` was called.
  void do_job(std::size_t job) {
    Outcome outcome = Worker::outcome_of_job(jobs_[job]);
    const std::scoped_lock lock{mutex_};
    outcomes_[job] = std::move(outcome);
    if (--left_ == 0) {
      all_ended_.notify_all();
    }
  }

  /// Each job is for a certain thread.
  void reserve_all() noexcept { next_ = jobs_.size(); }

  [[nodiscard]] Outcome wait() {
    std::unique_lock lock{mutex_};
    all_ended_.wait(lock, [this] { return left_ == 0; });
    const auto failed =
        std::ranges::find_if(outcomes_, [](const Outcome& one) { return !one.ok(); });
    return failed == outcomes_.end() ? Outcome{} : *failed;
  }

 private:
  std::vector<Job> jobs_;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::size_t next_ = 0;  // guarded by the mutex, like the rest
  std::size_t left_;
  std::vector<Outcome> outcomes_;
};

Crew::Crew(Terms terms) : terms_{std::move(terms)} {}

Crew::~Crew() = default;

// If the system gives fewer threads, these and the caller do the work.
void Crew::start() {
  const std::scoped_lock lock{mutex_};
  if (std::exchange(has_started_, true)) {
    return;
  }
  for (int thread = 1; thread < terms_.threads; ++thread) {
    const Outcome started =
        outcome_of([this] { helpers_.push_back(std::make_unique<Worker>("iocomp-writing")); });
    if (!started.ok()) {
      return;
    }
    if (terms_.enter) {
      helpers_.back()->submit([this, thread] { terms_.enter(thread); }, [](const Outcome&) {});
    }
  }
}

void Crew::ask(const std::shared_ptr<Batch>& batch, std::size_t helpers) {
  start();
  const std::scoped_lock lock{mutex_};
  for (std::size_t i = 0; i < std::min(helpers, helpers_.size()); ++i) {
    helpers_[next_++ % helpers_.size()]->submit([batch] { batch->help(); }, [](const Outcome&) {});
  }
}

Outcome Crew::run(std::vector<Job> jobs) {
  const std::size_t others = jobs.empty() ? 0 : jobs.size() - 1;
  const auto batch = std::make_shared<Batch>(std::move(jobs));
  ask(batch, others);
  batch->help();
  return batch->wait();
}

Outcome Crew::run(std::vector<Job> jobs, const std::vector<int>& threads) {
  start();
  const auto batch = std::make_shared<Batch>(std::move(jobs));
  batch->reserve_all();
  std::vector<std::size_t> own;
  for (std::size_t job = 0; job < threads.size(); ++job) {
    const auto thread = static_cast<std::size_t>(std::max(threads[job], caller));
    if (thread == 0 || thread > helpers_.size()) {
      own.push_back(job);
    } else {
      helpers_[thread - 1]->submit([batch, job] { batch->do_job(job); }, [](const Outcome&) {});
    }
  }
  std::ranges::for_each(own, [&batch](std::size_t job) { batch->do_job(job); });
  return batch->wait();
}

std::vector<Crew::Share> Crew::divide(std::span<const std::byte> memory, std::size_t unit) {
  const std::size_t grain = unit * std::max<std::size_t>(1, terms_.grain_bytes / unit);
  if (terms_.divide) {
    return terms_.divide(memory, grain, terms_.least_bytes);
  }
  const std::size_t grains = std::max<std::size_t>(1, memory.size() / grain);
  const std::size_t parts =
      std::min({static_cast<std::size_t>(terms_.threads), grains,
                std::max<std::size_t>(1, memory.size() / terms_.least_bytes)});
  std::vector<Share> shares;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = grains * part / parts * grain;
    const std::size_t end = part + 1 == parts ? memory.size() : grains * (part + 1) / parts * grain;
    shares.push_back({.begin = begin, .bytes = end - begin});
  }
  return shares;
}

Outcome Crew::share(std::span<const std::byte> memory, std::size_t unit,
                    const std::function<void(std::size_t begin, std::size_t end)>& work) {
  const std::vector<Share> shares = divide(memory, unit);
  std::vector<Job> jobs;
  std::vector<int> threads;
  for (const Share& share : shares) {
    jobs.emplace_back([&work, share] { work(share.begin, share.begin + share.bytes); });
    threads.push_back(share.thread);
  }
  divided_bytes_ += std::ssize(memory);
  const bool is_for_anybody =
      std::ranges::all_of(threads, [](int thread) { return thread == anybody; });
  return is_for_anybody ? run(std::move(jobs)) : run(std::move(jobs), threads);
}

std::shared_ptr<Crew::Batch> Crew::begin(std::vector<Job> jobs) {
  const std::size_t number = jobs.size();
  auto batch = std::make_shared<Batch>(std::move(jobs));
  ask(batch, number);
  return batch;
}

Outcome Crew::finish(Batch& batch, Batch* next) {
  batch.help();
  while (next != nullptr && !batch.has_ended() && next->help_once()) {
  }
  return batch.wait();
}

}  // namespace iocomp
