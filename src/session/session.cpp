// SPDX-License-Identifier: BSD-3-Clause
#include "session/session.h"

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/host.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/size_signal.h"
#include "client/client.h"
#include "config/log_level.h"
#include "config/parse.h"
#include "config/settings.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "server/server.h"
#include "session/configuration.h"
#include "session/connection.h"
#include "session/memory_shares.h"
#include "session/others.h"
#include "session/ranks.h"
#include "session/report.h"
#include "session/seating.h"
#include "session/version.h"
#include "session/writer_threads.h"

namespace iocomp::session {

namespace {

// The servers of a session that has ended, by ranks in MPI_COMM_WORLD. There is one set for the
// process.
std::set<int>& servers_of_one_session() {
  static std::set<int> ranks;
  return ranks;
}

// Servers serve one session, unless `server.end` is "return": note them for the sessions that come.
void note_servers_of_one_session(MPI_Group servers) {
  for (const int rank : mpi::ranks_of(servers, MPI_COMM_WORLD)) {
    if (rank != MPI_UNDEFINED) {
      servers_of_one_session().insert(rank);
    }
  }
}

// A communicator for a new session must have none of them: nobody there would answer.
void check_that_nobody_served(MPI_Comm comm) {
  if (servers_of_one_session().empty()) {
    return;
  }
  const auto ranks = mpi::ranks_of(mpi::group_of(comm).raw(), MPI_COMM_WORLD);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (servers_of_one_session().contains(ranks[i])) {
      throw Error{
          ErrorCode::invalid_argument,
          "iocomp_init: rank " + std::to_string(i) +
              " of the communicator was a server of an earlier session, and servers serve "
              "one; set server.end = \"return\", so that they can take part in the next one"};
    }
  }
}

// The end of the job as Slurm says it; empty if it does not.
std::string end_of_job() {
  const char* const slurm = std::getenv("SLURM_JOB_END_TIME");  // NOLINT(concurrency-mt-unsafe)
  return slurm == nullptr ? std::string{} : slurm;
}

std::optional<double> moment_to_stop(const config::Settings& settings, bool warns) {
  const auto text = settings.text("stop.at");
  if (text.empty()) {
    return std::nullopt;
  }
  const auto stop = *config::parse_stop(text);
  const auto when = stop.moment ? stop.moment : config::parse_real(end_of_job());
  if (!when && warns) {
    log::warning("stop.at = \"" + text + "\", but nobody says when the job ends: " +
                 (end_of_job().empty() ? "there is no SLURM_JOB_END_TIME"
                                       : "SLURM_JOB_END_TIME is \"" + end_of_job() + '"'));
  }
  return when ? std::optional{*when - stop.seconds_before} : std::nullopt;
}

double time_of_day() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Stopping::Stopping(const config::Settings& settings, bool warns)
    : signals_{*config::parse_signals(settings.text("stop.signals"))},
      signal_names_{settings.text("stop.signals")},
      moment_{moment_to_stop(settings, warns)} {}

std::string Stopping::reason() const {
  if (signals_.has_come()) {
    return "a signal of stop.signals (" + signal_names_ + ") has come";
  }
  return moment_ && time_of_day() >= *moment_ ? "the job ends soon (stop.at)" : "";
}

Calls::Calls(const mpi::WaitPolicy& policy) : policy_{policy} { check_thread(); }

void Calls::begin() {
  policy_.begin_call();
  if (!is_checked_ && std::this_thread::get_id() != last_) {
    check_thread();
  }
}

void Calls::check_thread() {
  last_ = std::this_thread::get_id();
  int level = MPI_THREAD_SINGLE;
  int is_main = 1;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  is_checked_ = level >= MPI_THREAD_SERIALIZED;
  if (!is_checked_ && is_main == 0) {
    is_checked_ = true;
    log::warning(
        "iocomp is called from a thread that did not initialise MPI. MPI allows that if the "
        "program asks for MPI_THREAD_SERIALIZED (MPI_Init_thread); it has " +
        std::string{level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE"});
  }
}

// MPI_Finalize begins by deleting the attributes of MPI_COMM_SELF.
FinalizeWatch::FinalizeWatch(std::function<void()> call) : call_{std::move(call)} {
  mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizing, &key_, nullptr));
  mpi::check(MPI_Comm_set_attr(MPI_COMM_SELF, key_, this));
}

int FinalizeWatch::finalizing(MPI_Comm /*comm*/, int /*key*/, void* watch, void* /*unused*/) {
  const SizeSignalHeld held;
  const auto call = std::exchange(static_cast<FinalizeWatch*>(watch)->call_, {});
  if (call && !is_child_of_fork()) {
    call();
  }
  return MPI_SUCCESS;
}

FinalizeWatch::~FinalizeWatch() {
  call_ = {};
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (is_over == 0) {
    MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
    MPI_Comm_free_keyval(&key_);
  }
}

ProgramCommunicator::ProgramCommunicator(MPI_Comm world) {
  mpi::check(MPI_Comm_get_errhandler(world, &errors_));
}

ProgramCommunicator::~ProgramCommunicator() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (errors_ != MPI_ERRHANDLER_NULL && finalized == 0) {
    MPI_Errhandler_free(&errors_);
  }
}

void ProgramCommunicator::make(const mpi::Communicator& compute_ranks,
                               const mpi::WaitPolicy& policy) {
  comm_ = mpi::duplicate(compute_ranks.raw(), policy, "the other ranks in iocomp_init");
  mpi::check(MPI_Comm_set_errhandler(comm_.raw(), errors_));
}

namespace {

void check_seats(Seating& seating, const Ranks& ranks, const config::Settings& settings) {
  const std::string mismatch = seating.check(ranks.server(), ranks.reason(), settings);
  if (!mismatch.empty()) {
    std::fprintf(stderr, "iocomp: %s\n", mismatch.c_str());
  }
}

// Called before the first call that all of them have to make.
MPI_Comm of_those_who_answer(MPI_Comm comm) {
  check_that_nobody_served(comm);
  return comm;
}

std::string counted(int count, const char* noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

// Threads of all ranks call MPI together, or none does.
bool threads_call_mpi(MPI_Comm comm, const mpi::WaitPolicy& policy) {
  int level = MPI_THREAD_SINGLE;
  mpi::check(MPI_Query_thread(&level));
  std::vector<std::int64_t> lacks{level < MPI_THREAD_MULTIPLE ? 1 : 0};
  mpi::maximum(comm, lacks, policy, "the other ranks to start");
  return lacks[0] == 0;
}

}  // namespace

Session::Session(MPI_Comm world, const std::string& program_settings)
    : comm_{mpi::duplicate(of_those_who_answer(world), mpi::WaitPolicy{mpi::usual_deadline_seconds},
                           "the other ranks in iocomp_init")},
      program_comm_{world},
      configuration_{read_configuration(comm_, program_settings)},
      calls_{configuration_.policy},
      stopping_{settings(), mpi::rank(comm_) == 0} {
  if (wants_servers(settings())) {
    start_with_servers();
  } else {
    start_without_servers();
  }
}

void Session::start_without_servers() {
  const bool by_kernel = settings().text("mode") != "sync";
  ranks_ = std::make_unique<Ranks>(
      comm_, configuration_.policy,
      by_kernel ? "written by the kernel, no servers" : "synchronous, no servers");
  const bool checks_seats =
      settings().text("placement.mapping") != "any" || !settings().text("placement.report").empty();
  if (checks_seats || wants_writer_threads(settings())) {
    Seating seating{comm_, configuration_.policy};
    if (checks_seats) {
      check_seats(seating, *ranks_, settings());
    }
    start_crew(seating);
  }
  timeline_ = start_timeline(*ranks_, configuration_);
  client::Place place;
  place.has_kernel = by_kernel;
  if (by_kernel) {
    place.threads_call_mpi = threads_call_mpi(comm_.raw(), configuration_.policy);
    stripes_ = share_stripes(*ranks_, configuration_);
    place.stripes = stripes_.get();
  }
  start_client(std::move(place));
  if (by_kernel) {
    connection_.name = "kernel, " + client_->kernel_engine();
    log::info(ranks_->reason() + "; transport: " + connection_.name);
  }
}

void Session::start_with_servers() {
  Seating seating{comm_, configuration_.policy};
  ranks_ = std::make_unique<Ranks>(comm_, configuration_.policy, settings(), seating);
  check_seats(seating, *ranks_, settings());
  const MemoryShares shares = share_memory(*ranks_, seating, settings(), configuration_.policy);
  ranks_->split();
  const double core_share = seating.core_share(!ranks_->serves());
  start_crew(seating);
  name_in_log(settings(), std::string{ranks_->serves() ? "server " : "compute "} +
                              std::to_string(mpi::rank(ranks_->own())));
  timeline_ = start_timeline(*ranks_, configuration_);
  std::optional<SignalWatch> termination;
  if (ranks_->serves()) {
    termination.emplace(std::vector{SIGTERM});  // before a compute rank goes on: all connect
  }
  connection_ = connect(*ranks_, seating, configuration_);
  log::info(ranks_->reason() + "; transport: " + connection_.name);
  if (ranks_->serves()) {
    serve(shares.staging_bytes, core_share, *termination);
    return;
  }
  if (!server_returns()) {
    note_servers_of_one_session(ranks_->servers().members());
  }
  client::Place place;
  place.servers = ranks_->servers();
  place.home = ranks_->home();
  place.neighbours = ranks_->neighbours();
  place.chunk_bytes = shares.chunk_bytes;
  place.core_share = core_share;
  start_client(std::move(place));
}

void Session::start_crew(const Seating& seating) {
  if (wants_writer_threads(settings())) {
    crew_ = make_crew(seating, !ranks_->serves(), settings(), configuration_.policy);
    configuration_.disk.crew = crew_.get();
  }
}

void Session::start_client(client::Place place) {
  program_comm_.make(ranks_->own(), configuration_.policy);
  place.comm = ranks_->own().raw();
  place.rank = mpi::rank(ranks_->own());
  place.job = configuration_.job;
  const std::string line = start_line();
  const bool has_servers = ranks_->servers().size() > 0;
  if (has_servers) {  // a program that hangs in a call that servers do not make never opens a file
    place.start_line = line.empty() ? "" : "iocomp: ";
  } else if (!line.empty()) {
    place.start_line = line + "; ";
  }
  place.timeline = timeline_.get();
  const Outcome made = outcome_of([&] {
    client_ =
        std::make_unique<client::Client>(settings(), configuration_.policy, configuration_.disk,
                                         std::move(place), connection_.transport.get());
  });
  const Outcome agreed = mpi::agree(ranks_->own().raw(), made, configuration_.policy, others);
  if (!agreed.ok()) {
    client_.reset();
    agreed.throw_unless_ok();
  }
  if (has_servers && !line.empty()) {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  finalize_watch_ = std::make_unique<FinalizeWatch>([this] { give_up(); });
}

void Session::begin_call() {
  if (!was_abandoned_) {
    calls_.begin();
  }
}

// Called by MPI_Finalize, which nothing may be thrown through.
void Session::give_up() {
  begin_call();
  was_abandoned_ = true;
  const Outcome given_up =
      outcome_of([this] { client_->give_up([this] { (void)outcome_of([this] { part(); }); }); });
  if (!given_up.ok()) {
    std::fprintf(stderr, "iocomp: %s\n", given_up.story.c_str());
  }
  finish_timeline();
}

void Session::finish_timeline() {
  if (timeline_) {
    timeline_->finish();
  }
}

std::string Session::start_line() const {
  if (!config::prints_start_line(settings()) || mpi::rank(ranks_->own()) != 0) {
    return {};
  }
  const int servers = ranks_->servers().size();
  const bool is_synchronous = settings().text("mode") == "sync";
  return "iocomp " + release_text() + ": " + counted(mpi::size(ranks_->own()), "compute rank") +
         ", " + (servers == 0 ? "no servers" : counted(servers, "server")) + ", " +
         (servers > 0      ? connection_.name
          : is_synchronous ? "synchronous"
                           : "kernel");
}

void Session::serve(std::size_t staging_bytes, double core_share, const SignalWatch& termination) {
  // This lowers the priority of this thread and of those that it starts, which is always allowed.
  (void)!::nice(static_cast<int>(settings().integer("server.nice")));
  server::Place place;
  place.servers = ranks_->own().raw();
  mpi::check(MPI_Comm_rank(place.servers, &place.number));
  place.ranks = ranks_->servers();
  place.clients = ranks_->clients();
  place.client_counts =
      mpi::gather_to_all(place.servers, std::ssize(place.clients), configuration_.policy, others);
  place.job = configuration_.job;
  place.staging_bytes = staging_bytes;
  place.core_share = core_share;
  place.is_terminated = [&termination] { return termination.has_come(); };
  place.clients_outlive_signal = stopping_.catches(SIGTERM);
  place.timeline = timeline_.get();
  try {
    server::Server server{settings(), configuration_.policy, configuration_.disk, std::move(place),
                          *connection_.transport};
    const auto end = server.serve();
    if (end != server::Server::End::all_left) {
      // MPI_Finalize may wait for those that are dead: the launcher of a job that goes on without
      // them minds a process that leaves as little.
      std::fprintf(
          stderr, "iocomp: server %d (rank %d) leaves: %s\n", mpi::rank(ranks_->own()),
          mpi::rank(comm_),
          end == server::Server::End::given_up ? "the compute ranks went on without"
          : end == server::Server::End::alone
              ? "other servers have not said goodbye within wait.deadline"
              : "SIGTERM has come, and the compute ranks are gone or silent; what they had "
                "ended was finished");
      finish_timeline();
      std::_Exit(0);
    }
    server_had_failures_ = server.had_failures();
  } catch (const std::exception& error) {
    // A broken invariant or a broken MPI: compute ranks would wait for this server in vain.
    std::fprintf(stderr, "iocomp: a server cannot go on: %s\n", error.what());
    MPI_Abort(comm_.raw(), 1);
  }
  connection_.transport.reset();
}

bool Session::should_stop() {
  if (stops_ || was_abandoned_) {
    return stops_;
  }
  const std::string reason = stopping_.reason();
  stops_ = client_->most_of("should_stop", reason.empty() ? 0 : 1) != 0;
  if (stops_) {
    stopping_.was_told();
  }
  if (!reason.empty()) {
    log::info("the program is told to stop: " + reason);
  }
  return stops_;
}

int Session::exit_status() const {
  return settings().text("server.end") == "status" && server_had_failures_ ? 1 : 0;
}

// The last that compute ranks do together.
void Session::part() {
  if (!client_->can_meet()) {
    return;
  }
  mpi::gate(ranks_->own().raw(), configuration_.policy,
            "the other compute ranks in iocomp_finalize");
  // A rank that gave up waiting for this one is missing in the sums; no data suffers from that.
  const Outcome counted =
      outcome_of([this] { report(*client_, *ranks_, connection_.name, configuration_); });
  if (!counted.ok()) {
    log::warning("there is no summary: " + counted.story);
  }
}

Outcome Session::finalize() {
  if (was_abandoned_) {
    return {ErrorCode::invalid_argument, "finalize: MPI_Finalize was called before"};
  }
  finalize_watch_.reset();
  Outcome outcome;
  if (client_) {
    outcome = client_->finalize();
    const Outcome parted = outcome_of([this] { part(); });
    if (outcome.ok()) {
      outcome = parted;
    }
    client_.reset();
  }
  finish_timeline();
  connection_.transport.reset();
  return outcome;
}

}  // namespace iocomp::session
