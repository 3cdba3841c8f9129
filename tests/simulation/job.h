// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "client/client.h"
#include "config/settings.h"
#include "disk.h"
#include "disk/options.h"
#include "machine.h"
#include "mpi/wait.h"
#include "network.h"
#include "oracle.h"
#include "plan.h"
#include "told.h"
#include "transport/shared_memory/node_stripes.h"
#include "transport/transport.h"
#include "world.h"

namespace simulation {

/// One job: compute ranks that do what a plan says, and servers, through the library's own Client
/// and Server.
class Job {
 public:
  static constexpr double deadline_seconds = 60;
  static constexpr Nanoseconds longest = 2000 * second;

  Job(const Plan& plan, World& world, Machine& machine);

  /// Tells the oracle what is there already.
  void know(const std::vector<Found>& before) { oracle_.know(before); }
  /// Run it to its end.
  void run();

  /// The outcome of the calls of its programs.
  [[nodiscard]] const Oracle& oracle() const noexcept { return oracle_; }
  [[nodiscard]] bool was_killed() const noexcept { return was_killed_; }
  /// True if some have given others up: a server that was lost, or ranks that did not come in time.
  /// Then nobody knows what the others still need, and what is left the next job removes.
  [[nodiscard]] bool have_given_up() const noexcept {
    return has_lost_server_ || oracle_.is_late();
  }
  void when_called(std::function<void(const std::string&)> log);

 private:
  void compute(int rank);
  void serve(int server);
  void try_as_second_job();
  [[nodiscard]] int node_of(int process) const;
  [[nodiscard]] const iocomp::mpi::WaitPolicy& policy_of(int process) const;
  [[nodiscard]] std::unique_ptr<iocomp::transport::Transport> connect(int process,
                                                                      iocomp::Crew* crew);
  [[nodiscard]] std::unique_ptr<iocomp::transport::NodeStripes> share_stripes(int process);
  [[nodiscard]] iocomp::Crew::Terms crew_terms() const;
  [[nodiscard]] iocomp::disk::Options disk_options(iocomp::Crew& crew) const;
  void check_memory(int rank, iocomp::client::Client& client);
  void kill_server_later();
  void kill_server();

  const Plan& plan_;
  World& world_;
  Machine& machine_;
  Network network_;
  iocomp::config::Settings settings_;
  std::vector<iocomp::mpi::WaitPolicy> policies_;  // by process
  Network::Communicator* all_ = nullptr;
  Network::Communicator* computing_ = nullptr;
  Network::Communicator* serving_ = nullptr;
  std::vector<Network::Communicator*> nodes_;
  std::vector<MPI_Comm> members_;  // by file; MPI_COMM_NULL: all compute ranks
  Oracle oracle_;
  int connected_ = 0;       // processes
  bool can_go_on_ = false;  // when a server is lost
  bool servers_had_failures_ = false;
  bool was_killed_ = false;
  bool is_terminated_ = false;
  bool has_lost_server_ = false;
  bool is_second_there_ = false;  // a job that tries to open the first file
};

/// The options with which every process of a simulated job uses the disk.
[[nodiscard]] iocomp::disk::Options usual_disk_options();

/// Describes a process that is alive when its world has stopped.
[[nodiscard]] std::string how_it_hangs(const World& world);

}  // namespace simulation
