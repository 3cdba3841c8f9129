// SPDX-License-Identifier: BSD-3-Clause
#include "session/report.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/log.h"
#include "base/small_files.h"
#include "client/client.h"
#include "client/group_ranks.h"
#include "config/log_level.h"
#include "mpi/agree.h"
#include "mpi/clock_offset.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "session/configuration.h"
#include "session/others.h"
#include "session/ranks.h"
#include "trace/counters.h"
#include "trace/summary.h"
#include "trace/timeline.h"
#include "trace/timeline_file.h"

namespace iocomp::session {
namespace {

constexpr int clock_tag = 24;

// The number of sessions of this process that have written a path.
std::int64_t& uses_of(const std::string& path) {
  static std::map<std::string, std::int64_t> uses;
  return uses[path];
}

std::string with(std::string path, const std::string& text) {
  path.erase(path.find_last_not_of('/') + 1);  // "folder/"
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return path.insert(has_ending ? dot : path.size(), text);
}

// A later session does not overwrite what an earlier one has left: "trace-2.json".
std::string numbered(const std::string& path, std::int64_t number) {
  return with(path, number > 1 ? '-' + std::to_string(number) : "");
}

// Nor does another group of the same launch. That without rank 0 of the launch writes
// "trace-rank4.json", if 4 is its first rank.
std::string of_group(const std::string& path, MPI_Comm group) {
  std::vector<int> there{0};
  (void)outcome_of([&] { there = client::ranks_within(MPI_COMM_WORLD, group); });
  const int first = std::ranges::min(there);
  return with(path, first > 0 ? "-rank" + std::to_string(first) : "");
}

trace::Process this_process(const Ranks& ranks, const Configuration& configuration) {
  const MPI_Comm all = ranks.all().raw();
  const auto& policy = configuration.policy;
  const auto offset = mpi::clock_offset(all, clock_tag, mpi::clock_identity(), now_seconds, policy);
  double started =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  mpi::maximum(all, std::span{&started, 1}, policy, others);
  return {.job = configuration.job,
          .started = started,
          .host = host_name(),
          .pid = ::getpid(),
          .rank = mpi::rank(ranks.all()),
          .role = ranks.serves() ? "server" : "compute",
          .number = mpi::rank(ranks.own()),
          .processes = mpi::size(ranks.all()),
          .clock_offset = offset.seconds,
          .clock_error = offset.error_seconds};
}

}  // namespace

std::unique_ptr<trace::Timeline> start_timeline(const Ranks& ranks,
                                                const Configuration& configuration) {
  const std::string wanted = configuration.settings.text("trace.timeline");
  if (wanted.empty()) {
    return nullptr;
  }
  auto& uses = ++uses_of(wanted);
  mpi::maximum(ranks.all().raw(), std::span{&uses, 1}, configuration.policy, others);
  const std::string folder = numbered(wanted, uses);
  const auto process = this_process(ranks, configuration);
  const auto events =
      static_cast<std::size_t>(configuration.settings.integer("test.timeline_events"));
  std::optional<trace::TimelineFile> file;
  const Outcome mine =
      outcome_of([&] { file.emplace(trace::create_timeline_file(folder, events, process)); });
  const Outcome all = mpi::agree(ranks.all().raw(), mine, configuration.policy, others);
  if (!all.ok()) {
    throw Error{ErrorCode::invalid_setting, "trace.timeline = \"" + folder + "\": " + all.story};
  }
  return std::make_unique<trace::Timeline>(std::move(*file));
}

void report(client::Client& client, const Ranks& ranks, const std::string& transport_name,
            const Configuration& configuration) {
  const MPI_Comm comm = ranks.own().raw();
  const auto& settings = configuration.settings;
  trace::Summary summary;
  mpi::check(MPI_Comm_size(comm, &summary.compute_ranks));
  summary.servers = ranks.servers().size();
  summary.seconds = now_seconds() - configuration.begin;
  summary.transport = transport_name;
  if (summary.servers > 0 && !client.kernel_engine().empty()) {
    summary.transport += "; long blocks by the kernel, " + client.kernel_engine();
  }
  summary.notes = client.link().journal().notes();
  summary.choices = client.link().journal().choices();
  client.link().count_transport();
  auto sum = client.link().counters().values();
  auto most = sum;
  mpi::sum(comm, std::span{sum}, configuration.policy, "the counters of the compute ranks");
  mpi::maximum(comm, std::span{most}, configuration.policy, "the counters of the compute ranks");
  summary.compute_sum.merge(sum);
  summary.compute_max.merge(most);
  if (client.link().server_side().farewell()) {
    summary.server_sum.merge(*client.link().server_side().farewell());
  }
  int rank = 0;
  mpi::check(MPI_Comm_rank(comm, &rank));
  if (rank != 0) {
    return;
  }
  const bool has_something =
      summary.compute_sum[trace::Counter::puts] + summary.compute_sum[trace::Counter::reads] > 0;
  if (config::prints_summary(settings) && has_something) {
    std::fprintf(stderr, "%s\n", trace::line(summary).c_str());
  }
  if (const auto wanted = settings.text("trace.json"); !wanted.empty()) {
    const std::string path = numbered(of_group(wanted, ranks.all().raw()), ++uses_of(wanted));
    const Outcome written = outcome_of([&] { write_file(path, trace::json(summary)); });
    if (!written.ok()) {
      log::warning("the trace could not be written to " + path + ": " + written.story);
    }
  }
}

}  // namespace iocomp::session
