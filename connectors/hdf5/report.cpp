// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/report.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/log.h"
#include "base/small_files.h"
#include "config/log_level.h"
#include "mpi/agree.h"
#include "mpi/clock_offset.h"
#include "mpi/error.h"
#include "mpi/wait.h"
#include "trace/counters.h"
#include "trace/summary.h"
#include "trace/timeline.h"
#include "trace/timeline_file.h"

namespace iocomp::hdf5 {
namespace {

constexpr int clock_tag = 1;  // nothing else travels between two ranks of a file
constexpr const char* the_timeline = "the timeline of a file's ranks";

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", value);
  return text;
}

// Files of several groups of ranks are written by one job: the number is that of the whole.
int rank_in_job() {
  int runs = 0;
  int has_ended = 0;
  int rank = 0;
  MPI_Initialized(&runs);
  MPI_Finalized(&has_ended);
  if (runs != 0 && has_ended == 0) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  return rank;
}

trace::Process this_process(MPI_Comm ranks, const mpi::WaitPolicy& policy) {
  const int rank = rank_in_job();
  trace::Process process{
      .job = host_name() + '-' + std::to_string(::getpid()),
      .started = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                     .count(),
      .host = host_name(),
      .pid = ::getpid(),
      .rank = rank,
      .role = "compute",
      .number = rank};
  if (ranks != MPI_COMM_NULL) {
    mpi::broadcast(ranks, 0, process.job, policy, the_timeline);
    mpi::maximum(ranks, std::span{&process.started, 1}, policy, the_timeline);
    const auto offset =
        mpi::clock_offset(ranks, clock_tag, mpi::clock_identity(), now_seconds, policy);
    process.clock_offset = offset.seconds;
    process.clock_error = offset.error_seconds;
  }
  return process;
}

}  // namespace

// A rank may have one already, from a file that others do not write.
void Report::begin_timeline(MPI_Comm ranks, const mpi::WaitPolicy& policy) {
  const std::string folder = settings_.text("trace.timeline");
  if (folder.empty() || (ranks == MPI_COMM_NULL && timeline_)) {
    return;
  }
  const trace::Process process = this_process(ranks, policy);
  if (timeline_) {
    return;
  }
  const Outcome made = outcome_of([&] {
    const auto events = static_cast<std::size_t>(settings_.integer("test.timeline_events"));
    timeline_ =
        std::make_unique<trace::Timeline>(trace::create_timeline_file(folder, events, process));
    counters_.record_into(timeline_.get());
  });
  if (!made.ok() && !is_told_) {
    is_told_ = true;
    log::warning("no timeline, trace.timeline = \"" + folder + "\": " + made.story);
  }
}

void Report::hand_in(MPI_Comm ranks, const mpi::WaitPolicy& policy) {
  auto sum = counters_.values();
  sum.push_back(left_calls_);
  auto most = sum;
  counters_ = {};
  counters_.record_into(timeline_.get());
  left_calls_ = 0;
  int rank = 0;
  int count = 1;
  if (ranks != MPI_COMM_NULL) {
    mpi::sum(ranks, std::span{sum}, policy, "the counters of a file");
    mpi::maximum(ranks, std::span{most}, policy, "the counters of a file");
    mpi::check(MPI_Comm_rank(ranks, &rank));
    mpi::check(MPI_Comm_size(ranks, &count));
  }
  if (rank == 0) {
    summary_.compute_ranks = std::max(summary_.compute_ranks, count);
    summary_.compute_sum.merge(sum);
    summary_.compute_max.merge(most);
    all_left_calls_ += sum.back();
  }
}

std::string Report::line() const {
  using trace::Counter;
  return format_bytes(static_cast<std::int64_t>(summary_.compute_sum[Counter::put_bytes])) +
         " of HDF5's writes taken, " + std::to_string(std::lround(all_left_calls_)) +
         " calls left to HDF5; " + seconds(summary_.compute_max[Counter::put_seconds]) +
         " in these calls, " + seconds(summary_.compute_max[Counter::buffer_wait_seconds]) +
         " of it for buffers, on the slowest rank";
}

void Report::end(const std::string& engine) {
  if (timeline_) {
    counters_.record_into(nullptr);
    timeline_->finish();
  }
  if (summary_.compute_sum[trace::Counter::put_bytes] + all_left_calls_ == 0) {
    return;
  }
  summary_.transport = "HDF5 connector, " + engine;
  summary_.notes = {line()};
  if (config::prints_summary(settings_)) {
    std::fprintf(stderr, "iocomp: %s\n", summary_.notes.front().c_str());
  }
  const std::string path = settings_.text("trace.json");
  if (path.empty()) {
    return;
  }
  const Outcome written = outcome_of([&] { write_file(path, trace::json(summary_)); });
  if (!written.ok()) {
    log::warning("the trace could not be written to " + path + ": " + written.story);
  }
}

}  // namespace iocomp::hdf5
