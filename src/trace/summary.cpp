// SPDX-License-Identifier: BSD-3-Clause
#include "trace/summary.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/byte_size.h"
#include "base/host.h"
#include "trace/counters.h"

namespace iocomp::trace {
namespace {

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", value);
  return text;
}

std::string bytes(double value) { return format_bytes(static_cast<std::int64_t>(value)); }

nlohmann::ordered_json object(const Counters& counters) {
  nlohmann::ordered_json result;
  for (std::size_t i = 0; i < counter_count; ++i) {
    const auto counter = static_cast<Counter>(i);
    result[std::string{name(counter)}] = counters[counter];
  }
  return result;
}

}  // namespace

double Summary::io_seconds() const {
  const auto busy = [](const Counters& sum, int processes) {
    return (sum[Counter::write_seconds] + sum[Counter::sync_seconds] +
            sum[Counter::commit_seconds]) /
           std::max(1, processes);
  };
  return busy(server_sum, servers) + busy(compute_sum, compute_ranks);
}

double Summary::hidden() const {
  const double io = io_seconds();
  if (servers == 0 || io <= 0) {
    return 0;
  }
  return std::clamp(1 - compute_max[Counter::call_seconds] / io, 0.0, 1.0);
}

namespace {

std::string in_steps(long steps) {
  return std::to_string(steps) + (steps == 1 ? " step" : " steps");
}

std::string first_line(const Summary& summary) {
  std::string text = "iocomp: " + bytes(summary.compute_sum[Counter::put_bytes]) + " in " +
                     in_steps(std::lround(summary.compute_max[Counter::steps]));
  if (summary.servers == 0) {
    text += summary.transport == "direct" ? ", synchronous" : ", by the " + summary.transport;
    text += ", " + seconds(summary.compute_max[Counter::call_seconds]) + " in iocomp calls";
    if (summary.compute_sum[Counter::late_copies] > 0) {
      text += ", " + bytes(summary.compute_sum[Counter::late_copied_bytes]) + " of " +
              std::to_string(std::lround(summary.compute_sum[Counter::late_copies])) +
              " arrays copied because the program waited for them";
    }
    if (summary.compute_sum[Counter::small_page_bytes] > 0) {
      text += ", " + bytes(summary.compute_sum[Counter::small_page_bytes]) +
              " of arrays in small pages (iocomp_alloc has huge ones)";
    }
    return text;
  }
  return text + ", hidden " + std::to_string(std::lround(100 * summary.hidden())) +
         " %, clients waited " + seconds(summary.compute_max[Counter::buffer_wait_seconds]) +
         " for buffers (should be near zero), staging peak " +
         bytes(summary.server_sum[Counter::staging_peak_bytes]) + " of " +
         bytes(summary.server_sum[Counter::staging_limit_bytes]);
}

// "\niocomp: compressed 8 GiB to 2 GiB (4.0 : 1), 12.0 s of 4 threads"; empty if nothing was
// compressed. The number of threads is left out if processes have one each.
std::string compression(const Summary& summary) {
  const auto sum = [&](Counter counter) {
    return summary.server_sum[counter] + summary.compute_sum[counter];
  };
  const double after = sum(Counter::compressed_bytes);
  if (after <= 0) {
    return {};
  }
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, " (%.1f : 1), ", sum(Counter::raw_bytes) / after);
  const auto threads = std::lround(sum(Counter::writer_threads));
  return "\niocomp: compressed " + bytes(sum(Counter::raw_bytes)) + " to " + bytes(after) + ratio +
         seconds(sum(Counter::compress_seconds)) + " of " +
         (threads > 0 ? std::to_string(threads) + " threads" : "threads");
}

}  // namespace

std::string line(const Summary& summary) {
  std::string text = first_line(summary);
  // A compute rank counts what its server has told it, and the server what it has told.
  const auto failures = std::lround(
      std::max(summary.server_sum[Counter::failures], summary.compute_sum[Counter::failures]));
  if (failures > 0) {
    text += ", " + std::to_string(failures) + (failures == 1 ? " failure" : " failures");
  }
  if (summary.compute_sum[Counter::reads] > 0) {
    text += "\niocomp: read " + bytes(summary.compute_sum[Counter::read_bytes]) + " in " +
            seconds(summary.compute_max[Counter::read_seconds]);
  }
  text += compression(summary);
  for (const auto& note : summary.notes) {
    text += "\niocomp: " + note;
  }
  return text;
}

namespace {

// The job, for whoever collects such files of many.
nlohmann::ordered_json this_job() {
  std::string batch;
  for (const char* const name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}) {
    if (const char* const number = std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe)
      batch = number;
    }
  }
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return {{"program", program_invocation_short_name},
          {"uid", ::getuid()},
          {"host", host_name()},
          {"process", ::getpid()},
          {"batch_job", batch},
          {"ended_at", now.count()}};
}

}  // namespace

std::string json(const Summary& summary) {
  constexpr int form = 1;
  nlohmann::ordered_json result;
  result["iocomp_trace"] = form;
  result["job"] = this_job();
  result["seconds"] = summary.seconds;
  result["compute_ranks"] = summary.compute_ranks;
  result["servers"] = summary.servers;
  result["transport"] = summary.transport;
  result["choices"] = summary.choices;
  result["notes"] = summary.notes;
  result["io_seconds"] = summary.io_seconds();
  result["hidden"] = summary.hidden();
  result["compute_sum"] = object(summary.compute_sum);
  result["compute_max"] = object(summary.compute_max);
  result["server_sum"] = object(summary.server_sum);
  return result.dump(2) + '\n';
}

}  // namespace iocomp::trace
