// SPDX-License-Identifier: BSD-3-Clause
#include "session/report.h"

#include <mpi.h>

#include <cstdio>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/small_files.h"
#include "client/client.h"
#include "config/log_level.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "session/configuration.h"
#include "session/ranks.h"
#include "trace/counters.h"
#include "trace/summary.h"

namespace iocomp::session {

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
  summary.notes = client.link().notes();
  summary.choices = client.link().choices();
  client.link().count_transport();
  auto sum = client.link().counters().values();
  auto most = sum;
  mpi::sum(comm, std::span{sum}, configuration.policy, "the counters of the compute ranks");
  mpi::maximum(comm, std::span{most}, configuration.policy, "the counters of the compute ranks");
  summary.compute_sum.merge(sum);
  summary.compute_max.merge(most);
  if (client.link().farewell()) {
    summary.server_sum.merge(*client.link().farewell());
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
  const auto path = settings.text("trace.json");
  if (!path.empty()) {
    const Outcome written = outcome_of([&] { write_file(path, trace::json(summary)); });
    if (!written.ok()) {
      log::warning("the trace could not be written to " + path + ": " + written.story);
    }
  }
}

}  // namespace iocomp::session
