#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "client/client.h"
#include "config/settings.h"
#include "disk/options.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "session/seating.h"
#include "session/session.h"
#include "session/version.h"

namespace iocomp::session {
namespace {

mpi::WaitPolicy wait_policy(const config::Settings& settings) {
  mpi::WaitPolicy policy;
  const auto kind = settings.text("wait.policy");
  policy.kind = kind == "spin"    ? mpi::WaitPolicy::Kind::spin
                : kind == "yield" ? mpi::WaitPolicy::Kind::yield
                                  : mpi::WaitPolicy::Kind::sleep;
  policy.longest_nap = std::chrono::microseconds{settings.integer("wait.longest_nap")};
  policy.deadline_seconds = settings.real("wait.deadline");
  return policy;
}

disk::Options disk_options(const config::Settings& settings) {
  disk::Options options;
  const auto engine = settings.text("disk.engine");
  options.engine = engine == "uring"     ? disk::EngineKind::uring
                   : engine == "threads" ? disk::EngineKind::threads
                                         : disk::EngineKind::automatic;
  const auto direct = settings.text("disk.direct");
  options.direct = direct == "on"    ? disk::Direct::on
                   : direct == "off" ? disk::Direct::off
                                     : disk::Direct::automatic;
  options.direct_from_bytes = static_cast<std::size_t>(settings.bytes("disk.direct_from"));
  options.request_bytes = static_cast<std::size_t>(settings.bytes("disk.request"));
  options.early_flush = settings.boolean("disk.early_flush");
  options.threads = static_cast<int>(settings.integer("disk.threads"));
  return options;
}

log::Level log_level(const config::Settings& settings) {
  static const std::map<std::string, log::Level> levels{{"silent", log::Level::silent},
                                                        {"error", log::Level::error},
                                                        {"warning", log::Level::warning},
                                                        {"info", log::Level::info},
                                                        {"debug", log::Level::debug}};
  return levels.at(settings.text("log"));
}

constexpr const char* others_in_init = "the other ranks in iocomp_init";

}  // namespace

Session::Session(MPI_Comm world, const std::string& program_settings)
    : comm_{mpi::duplicate(world, policy_, others_in_init)} {
  mpi::check(MPI_Comm_get_errhandler(world, &program_errors_));
  read_settings(program_settings);
  if (settings_.text("mode") == "sync" || settings_.text("transport.kind") == "kernel") {
    start_without_servers();
  } else {
    start_asynchronous();
  }
}

void Session::read_settings(const std::string& program_settings) {
  const int rank = mpi::rank(comm_);
  std::array<std::int64_t, 2> build{build_number(), -build_number()};
  mpi::maximum(comm_.raw(), build, policy_, "the versions of all ranks");
  if (build[0] != -build[1]) {
    throw Error{
        ErrorCode::inconsistent_calls,
        "the ranks of this job use different builds of iocomp; this rank has " + version_text()};
  }
  Outcome read;
  std::string text;
  if (rank == 0) {
    try {
      text = config::Settings::read(program_settings).to_text();
    } catch (const Error& error) {
      read = {error.code(), error.what()};
    }
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    job_ = std::string{host.data()} + '-' + std::to_string(getpid());
  }
  read = mpi::agree(comm_.raw(), read, policy_, "the settings");
  if (!read.ok()) {
    throw Error{read.code, read.story};
  }
  mpi::broadcast(comm_.raw(), 0, text, policy_, "the settings");
  mpi::broadcast(comm_.raw(), 0, job_, policy_, "the settings");
  settings_ = config::Settings::from_text(text);
  policy_ = wait_policy(settings_);
  disk_ = disk_options(settings_);
  log::configure(log_level(settings_), "rank " + std::to_string(rank));
}

void Session::give_program_its_communicator() {
  program_comm_ = mpi::duplicate(own_comm_.raw(), policy_, others_in_init);
  // It behaves as the one it replaces.
  mpi::check(MPI_Comm_set_errhandler(program_comm_.raw(), program_errors_));
}

void Session::start_without_servers() {
  const bool by_kernel = settings_.text("mode") != "sync";
  role_ = Role::both;
  if (settings_.text("placement.mapping") != "any" || !settings_.text("placement.report").empty()) {
    reason_ = by_kernel ? "written by the kernel, no servers" : "synchronous, no servers";
    Seating seating{comm_, policy_};
    check_seats(seating);
  }
  own_comm_ = mpi::duplicate(comm_.raw(), policy_, others_in_init);
  give_program_its_communicator();
  client::Place place;
  place.comm = own_comm_.raw();
  place.rank = mpi::rank(own_comm_);
  place.job = job_;
  place.has_kernel = by_kernel;
  client_ = std::make_unique<client::Client>(settings_, policy_, disk_, std::move(place), nullptr);
  if (by_kernel) {
    transport_name_ = "kernel, " + client_->kernel_engine();
    log::info(reason_ + "; transport: " + transport_name_);
  }
}

void Session::start_asynchronous() {
  Seating seating{comm_, policy_};
  place_ranks(seating);
  check_seats(seating);
  share_staging(seating);
  split();
  const double core_share = seating.core_share(role_ == Role::compute);
  meet_peers();
  log::configure(log_level(settings_), std::string{role_ == Role::server ? "server " : "compute "} +
                                           std::to_string(mpi::rank(own_comm_)));
  connect(seating);
  log::info(reason_ + "; transport: " + transport_name_);
  if (role_ == Role::server) {
    serve();
    return;
  }
  client::Place place;
  place.comm = own_comm_.raw();
  place.rank = mpi::rank(own_comm_);
  place.job = job_;
  place.servers = servers_;
  place.home = home_;
  place.neighbours = neighbours_;
  place.chunk_bytes = chunk_bytes_;
  place.core_share = core_share;
  client_ = std::make_unique<client::Client>(settings_, policy_, disk_, std::move(place),
                                             transport_.get());
}

}  // namespace iocomp::session
