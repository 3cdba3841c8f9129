// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker.h"

namespace iocomp {

/// The writer threads of one process. The thread that has a request is one of them: it divides the
/// request among all, does its own share and sleeps until the others have done theirs. So the
/// shares of requests keep the order of the requests. The threads are started when they are first
/// needed, sleep when there is nothing to do, and never call MPI. Thread-safe, but nothing here may
/// be called from a job.
class Crew {
 public:
  using Job = Worker::Job;
  static constexpr int anybody = -1;
  static constexpr int caller = 0;

  /// A thread's share of a request.
  struct Share {
    std::size_t begin = 0;  ///< in the request, bytes
    std::size_t bytes = 0;
    int thread = anybody;  ///< who does it: 0 is the caller
  };
  /// Divides the memory of a request; every byte is in one share, shares begin at multiples of
  /// `grain`, and their threads are below the number given to `Crew`.
  using Divide = std::function<std::vector<Share>(std::span<const std::byte> memory,
                                                  std::size_t grain, std::size_t least_bytes)>;

  struct Terms {
    int threads = 1;  ///< with the caller
    /// No thread gets less: to wake one takes as long as to copy some 100 KiB.
    std::size_t least_bytes = std::size_t{512} << 10;
    /// Shares begin at multiples of about so many bytes of a request, so that two threads seldom
    /// write to one page.
    std::size_t grain_bytes = 4096;
    Divide divide{};  ///< null: evenly
    /// The NUMA domains where its threads sit, by their numbers in the operating system, each once;
    /// less than two if nothing has to be placed.
    std::vector<int> domains{};
    std::function<void(int thread)> enter{};  ///< what each thread but the caller does first
  };
  explicit Crew(Terms terms);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  [[nodiscard]] int threads() const noexcept { return terms_.threads; }
  [[nodiscard]] const std::vector<int>& domains() const noexcept { return terms_.domains; }
  /// True if a request of that size is divided.
  [[nodiscard]] bool divides(std::size_t bytes) const noexcept {
    return terms_.threads > 1 && bytes / 2 >= terms_.least_bytes;
  }
  /// Requests that were divided so far, and their bytes.
  [[nodiscard]] std::int64_t divided_bytes() const noexcept { return divided_bytes_; }

  /// Divide a request and do it. @param unit  shares begin at its multiples.
  /// @return the first failure, in the order of the shares.
  [[nodiscard]] Outcome share(std::span<const std::byte> memory, std::size_t unit,
                              const std::function<void(std::size_t begin, std::size_t end)>& work);

  /// Run jobs, in any order and several at once, and wait for them. @return the first failure, in
  /// the order of the jobs.
  [[nodiscard]] Outcome run(std::vector<Job> jobs);

  /// Jobs that are waited for together.
  class Batch;
  /// Begin jobs that go on beside their caller.
  [[nodiscard]] std::shared_ptr<Batch> begin(std::vector<Job> jobs);
  /// Run the jobs that nobody has begun; while others end theirs, run jobs of the next batch, if
  /// any.
  /// @return the first failure, in the order of the jobs.
  [[nodiscard]] static Outcome finish(Batch& batch, Batch* next = nullptr);

 private:
  void start();
  void ask(const std::shared_ptr<Batch>& batch, std::size_t helpers);
  [[nodiscard]] std::vector<Share> divide(std::span<const std::byte> memory, std::size_t unit);
  [[nodiscard]] Outcome run(std::vector<Job> jobs, const std::vector<int>& threads);

  Terms terms_;
  std::mutex mutex_;
  bool has_started_ = false;  // guarded by mutex_, like the next
  std::size_t next_ = 0;      // who is asked first
  std::atomic<std::int64_t> divided_bytes_{0};
  std::vector<std::unique_ptr<Worker>> helpers_;  // by thread, from 1 on; last: they use all above
};

/// Do a request with the threads that there are. @param crew  null: the caller alone, at no cost.
/// @param work  gets the begin and the end of a share in the memory, in bytes.
/// @throws what `work` throws; of several the first, in the order of the shares, as an Error.
template <typename Work>
void share(Crew* crew, std::span<const std::byte> memory, std::size_t unit, Work&& work) {
  if (crew == nullptr || !crew->divides(memory.size())) {
    work(std::size_t{0}, memory.size());
    return;
  }
  const Outcome outcome = crew->share(memory, unit, std::forward<Work>(work));
  outcome.throw_unless_ok();
}

}  // namespace iocomp
