// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/report.h"

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/byte_size.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"
#include "trace/counters.h"

namespace iocomp::hdf5 {
namespace {

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", value);
  return text;
}

}  // namespace

void Report::hand_in(MPI_Comm ranks, const mpi::WaitPolicy& policy) {
  using trace::Counter;
  std::array<double, 5> sums{counters_[Counter::put_bytes], left_calls_,
                             counters_[Counter::put_seconds],
                             counters_[Counter::buffer_wait_seconds], 1};
  counters_ = {};
  left_calls_ = 0;
  int rank = 0;
  if (ranks != MPI_COMM_NULL) {
    mpi::sum(ranks, sums, policy, "the counters of a file");
    mpi::check(MPI_Comm_rank(ranks, &rank));
  }
  if (rank == 0) {
    const auto& [bytes, left, in_calls, for_buffers, all] = sums;
    bytes_ += bytes;
    calls_ += left;
    call_seconds_ += in_calls / all;
    buffer_seconds_ += for_buffers / all;
  }
}

std::string Report::line() const {
  if (bytes_ + calls_ == 0) {
    return {};
  }
  return "iocomp: " + format_bytes(static_cast<std::int64_t>(bytes_)) +
         " of HDF5's writes taken, " + std::to_string(std::lround(calls_)) +
         " calls left to HDF5; " + seconds(call_seconds_) + " in these calls, " +
         seconds(buffer_seconds_) + " of it for buffers, per rank";
}

}  // namespace iocomp::hdf5
