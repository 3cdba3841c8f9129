// SPDX-License-Identifier: BSD-3-Clause
#include "session/timeline.h"

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "mpi/agree.h"
#include "mpi/clock_offset.h"
#include "mpi/handle.h"
#include "session/configuration.h"
#include "session/others.h"
#include "session/ranks.h"
#include "trace/timeline.h"
#include "trace/timeline_file.h"

namespace iocomp::session {
namespace {

constexpr int clock_tag = 24;

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
          .clock_offset = offset.seconds,
          .clock_error = offset.error_seconds};
}

}  // namespace

std::unique_ptr<trace::Timeline> start_timeline(const Ranks& ranks,
                                                const Configuration& configuration) {
  const std::string folder = configuration.settings.text("trace.timeline");
  if (folder.empty()) {
    return nullptr;
  }
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

}  // namespace iocomp::session
