// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/phase.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/ranks.h"
#include "common/stopwatch.h"
#include "stream/kernels.h"

namespace iocomp::apps::blocks {
namespace {

constexpr std::size_t array_elements = std::size_t{2} << 20;
constexpr std::size_t passes_to_calibrate = 10;
constexpr std::size_t remembered = 3;

}  // namespace

Phase::Phase(MPI_Comm comm, double multiple, double waits)
    : multiple_{multiple},
      waits_{waits},
      a_{multiple > 0 ? array_elements : 1},
      b_{a_.size()},
      c_{a_.size()} {
  if (multiple_ == 0) return;
  elements_ = passes_to_calibrate * array_elements;
  run();  // warm
  MPI_Barrier(comm);
  const double begin = now_seconds();
  run();
  elements_per_second_ = static_cast<double>(elements_) / max_over(comm, now_seconds() - begin);
  elements_ = 0;
}

void Phase::run() {
  for (std::size_t left = elements_; left > 0;) {
    const std::size_t count = std::min(left, a_.size());
    stream::triad(a_.data(), b_.data(), c_.data(), count);
    left -= count;
    if (waits_ > 0 && elements_per_second_ > 0) {
      const double computing = static_cast<double>(count) / elements_per_second_;
      std::this_thread::sleep_for(std::chrono::duration<double>{computing * waits_ / (1 - waits_)});
    }
  }
}

void Phase::follow(double write_seconds_per_step) {
  if (multiple_ == 0) return;
  writes_.push_back(write_seconds_per_step);
  std::vector<double> last{
      writes_.end() - static_cast<std::ptrdiff_t>(std::min(remembered, writes_.size())),
      writes_.end()};
  std::ranges::sort(last);
  const double seconds = multiple_ * last[last.size() / 2];
  elements_ = static_cast<std::size_t>(seconds * (1 - waits_) * elements_per_second_);
}

}  // namespace iocomp::apps::blocks
