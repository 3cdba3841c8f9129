#include "session/session.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "server/server.h"
#include "trace/counters.h"
#include "trace/summary.h"

namespace iocomp::session {

Session::~Session() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (program_errors_ != MPI_ERRHANDLER_NULL && finalized == 0) {
    MPI_Errhandler_free(&program_errors_);
  }
}

void Session::serve() {
  server::Place place;
  place.servers = own_comm_.raw();
  mpi::check(MPI_Comm_rank(place.servers, &place.number));
  place.ranks = servers_;
  place.clients = clients_;
  place.job = job_;
  place.staging_bytes = staging_share_;
  try {
    server::Server server{settings_, policy_, disk_, std::move(place), *transport_};
    if (!server.serve()) {
      // MPI_Finalize may wait for the server that is dead: the launcher of a job that goes on
      // without one minds a process that leaves as little.
      std::fprintf(stderr,
                   "iocomp: server %d (rank %d) leaves: the compute ranks went on without\n",
                   mpi::rank(own_comm_), mpi::rank(comm_));
      std::_Exit(0);
    }
    server_had_failures_ = server.had_failures();
  } catch (const std::exception& error) {
    // A broken invariant or a broken MPI: compute ranks would wait for this server in vain.
    std::fprintf(stderr, "iocomp: a server cannot go on: %s\n", error.what());
    MPI_Abort(comm_.raw(), 1);
  }
  transport_.reset();
}

int Session::exit_status() const {
  return settings_.boolean("server.exit_status") && server_had_failures_ ? 1 : 0;
}

Outcome Session::finalize() {
  Outcome outcome;
  if (client_) {
    outcome = client_->finalize();
    if (client_->can_meet()) {
      const Outcome met = outcome_of([this] {
        mpi::gate(own_comm_.raw(), policy_, "the other compute ranks in iocomp_finalize");
      });
      if (met.ok()) {
        // Who gave up waiting for this rank does not come to count; no data suffers from that.
        const Outcome counted = outcome_of([this] { summarize(); });
        if (!counted.ok()) {
          log::warning("there is no summary: " + counted.story);
        }
      }
      if (outcome.ok()) {
        outcome = met;
      }
    }
    client_.reset();
  }
  transport_.reset();
  return outcome;
}

void Session::summarize() {
  trace::Summary summary;
  mpi::check(MPI_Comm_size(own_comm_.raw(), &summary.compute_ranks));
  summary.servers = servers_.size();
  summary.transport = transport_name_;
  if (summary.servers > 0 && !client_->kernel_engine().empty()) {
    summary.transport += "; long blocks by the kernel, " + client_->kernel_engine();
  }
  summary.notes = client_->link().notes();
  summary.choices = client_->link().choices();
  client_->link().count_transport();
  auto sum = client_->link().counters().values();
  auto most = sum;
  mpi::sum(own_comm_.raw(), std::span{sum}, policy_, "the counters of the compute ranks");
  mpi::maximum(own_comm_.raw(), std::span{most}, policy_, "the counters of the compute ranks");
  summary.compute_sum.merge(sum);
  summary.compute_max.merge(most);
  if (client_->link().farewell()) {
    summary.server_sum.merge(*client_->link().farewell());
  }
  int rank = 0;
  mpi::check(MPI_Comm_rank(own_comm_.raw(), &rank));
  if (rank != 0) {
    return;
  }
  const bool has_something =
      summary.compute_sum[trace::Counter::puts] + summary.compute_sum[trace::Counter::reads] > 0;
  if (settings_.boolean("trace.summary") && has_something) {
    std::fprintf(stderr, "%s\n", trace::line(summary).c_str());
  }
  const auto path = settings_.text("trace.json");
  if (!path.empty()) {
    std::ofstream file{path};
    file << trace::json(summary);
    if (!file.flush()) {
      log::warning("the trace could not be written to " + path);
    }
  }
}

}  // namespace iocomp::session
