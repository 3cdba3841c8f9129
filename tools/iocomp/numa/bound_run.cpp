// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numa/bound_run.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <latch>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "topology/binding.h"

namespace iocomp::command {
namespace {

struct BoundTimes {
  double begin = 0;
  double end = 0;
  std::exception_ptr failure{};
};

}  // namespace

double run_bound(const topology::ThreadBinder& binder, std::span<const BoundJob> jobs) {
  std::vector<BoundTimes> times(jobs.size());
  std::latch all_are_bound{static_cast<std::ptrdiff_t>(jobs.size())};
  const auto run = [&](std::size_t number) {
    BoundTimes& mine = times[number];
    try {
      binder.bind_this_thread({jobs[number].cpu});
    } catch (...) {
      mine.failure = std::current_exception();
    }
    all_are_bound.arrive_and_wait();
    mine.begin = now_seconds();
    try {
      if (mine.failure == nullptr) {
        jobs[number].work();
      }
    } catch (...) {
      mine.failure = std::current_exception();
    }
    mine.end = now_seconds();
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(jobs.size());
    for (std::size_t number = 0; number < jobs.size(); ++number) {
      try {
        threads.emplace_back(run, number);
      } catch (const std::system_error&) {  // no more threads: those that are there must not wait
        times[number].failure = std::current_exception();
        all_are_bound.count_down(static_cast<std::ptrdiff_t>(jobs.size() - number));
        break;
      }
    }
  }
  for (const auto& one : times) {
    if (one.failure != nullptr) {
      std::rethrow_exception(one.failure);
    }
  }
  return std::ranges::max(times, {}, &BoundTimes::end).end -
         std::ranges::min(times, {}, &BoundTimes::begin).begin;
}

}  // namespace iocomp::command
