// SPDX-License-Identifier: BSD-3-Clause
#include "session/configuration.h"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/host.h"
#include "base/log.h"
#include "config/log_level.h"
#include "config/settings.h"
#include "disk/options_of.h"
#include "mpi/agree.h"
#include "mpi/clock_offset.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "session/version.h"

namespace iocomp::session {
namespace {

mpi::WaitPolicy wait_policy(const config::Settings& settings) {
  return mpi::WaitPolicy{settings.real("wait.deadline")};
}

bool are_in_one_system(MPI_Comm all, const mpi::WaitPolicy& policy) {
  const std::int64_t mine = mpi::clock_identity();
  std::array most{mine, -1 - mine};
  mpi::maximum(all, most, policy, "the settings");
  return most[0] == mine && most[1] == -1 - mine;
}

void check_builds(const mpi::Communicator& all, const mpi::WaitPolicy& policy) {
  std::array<std::int64_t, 2> build{build_number(), -build_number()};
  mpi::maximum(all.raw(), build, policy, "the versions of all ranks");
  if (build[0] != -build[1]) {
    throw Error{
        ErrorCode::inconsistent_calls,
        "the ranks of this job use different builds of iocomp; this rank has " + version_text()};
  }
}

}  // namespace

Configuration read_configuration(const mpi::Communicator& all,
                                 const std::string& program_settings) {
  Configuration read;
  const int rank = mpi::rank(all);
  check_builds(all, read.policy);
  Outcome outcome;
  std::string sent;
  std::vector<std::string> warnings;
  if (rank == 0) {
    outcome = outcome_of([&] {
      auto settings = config::Settings::read(program_settings);
      settings.resolve_paths();
      sent = settings.to_wire();
      warnings = settings.warnings();
    });
    read.job = host_name() + '-' + std::to_string(getpid());
  }
  outcome = mpi::agree(all.raw(), outcome, read.policy, "the settings");
  outcome.throw_unless_ok();
  mpi::broadcast(all.raw(), 0, sent, read.policy, "the settings");
  mpi::broadcast(all.raw(), 0, read.job, read.policy, "the settings");
  read.settings = config::Settings::from_wire(sent);
  read.policy = wait_policy(read.settings);
  read.disk = disk::options_of(read.settings);
  read.disk.are_writers_on_one_node = are_in_one_system(all.raw(), read.policy);
  name_in_log(read.settings, "rank " + std::to_string(rank));
  for (const auto& warning : warnings) {
    log::warning(warning);
  }
  return read;
}

void name_in_log(const config::Settings& settings, const std::string& name) {
  log::configure(config::log_level(settings), name);
}

}  // namespace iocomp::session
