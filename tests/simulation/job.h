// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
#include "plan.h"
#include "told.h"
#include "transport/shared_memory/node_stripes.h"
#include "transport/transport.h"
#include "world.h"

namespace simulation {

/// What the calls of one rank came to for one file: 0, or the code of an error.
struct Ends {
  int first_error = 0;
  /// By step, variable, number of the put: what became of its ticket, or why there is none.
  std::map<std::tuple<std::int64_t, std::size_t, std::size_t>, int> tickets{};
  bool operator==(const Ends&) const = default;
};

/// What one rank was told about one file that has failed.
struct Failures {
  std::set<std::int64_t> steps{};
  bool is_whole_file = false;
};

/// One job: compute ranks that do what a plan says, and servers, through the library's own Client
/// and Server.
class Job {
 public:
  static constexpr double deadline_seconds = 60;
  static constexpr Nanoseconds longest = 2000 * second;

  Job(const Plan& plan, World& world, Machine& machine);

  /// What is there already.
  void know(const std::vector<Found>& before);
  /// Run it to its end.
  void run();

  [[nodiscard]] const std::vector<Told>& told() const noexcept { return told_; }
  /// By rank and file.
  [[nodiscard]] const std::vector<std::vector<Ends>>& ends() const noexcept { return ends_; }
  /// What broke a promise while it ran.
  [[nodiscard]] const std::vector<std::string>& violations() const noexcept { return violations_; }
  [[nodiscard]] bool was_killed() const noexcept { return was_killed_; }
  /// Whether some have given others up: a server that was lost, or who did not come in time. Then
  /// nobody knows what the others still need, and what is left the next job removes.
  [[nodiscard]] bool have_given_up() const noexcept { return has_lost_server_ || is_late_; }
  void when_called(std::function<void(const std::string&)> log) { log_ = std::move(log); }

 private:
  struct Rank;
  [[nodiscard]] static bool is_mistaken(const PlannedFile& file, const Rank& rank, Mistake what);
  [[nodiscard]] static std::span<std::byte> memory_for(Rank& rank, std::vector<std::byte>& own,
                                                       const Put& put, std::size_t bytes,
                                                       std::size_t offset);
  void compute(int rank);
  void serve(int server);
  [[nodiscard]] int node_of(int process) const;
  [[nodiscard]] const iocomp::mpi::WaitPolicy& policy_of(int process) const;
  [[nodiscard]] std::unique_ptr<iocomp::transport::Transport> connect(int process,
                                                                      iocomp::Crew* crew);
  [[nodiscard]] std::unique_ptr<iocomp::transport::NodeStripes> share_stripes(int process);
  [[nodiscard]] iocomp::Crew::Terms crew_terms() const;
  [[nodiscard]] iocomp::disk::Options disk_options(iocomp::Crew& crew) const;
  void open(Rank& rank, std::size_t file);
  void write_files(Rank& rank);
  [[nodiscard]] std::size_t steps_of(const Rank& rank, std::size_t file) const;
  void define(Rank& rank, std::size_t file, std::size_t variable);
  void check_beginning(const Rank& rank, std::size_t file);
  void make_step(Rank& rank, std::size_t file, std::int64_t step);
  void set_shapes(Rank& rank, std::size_t file, const Step& now);
  void set_rows(Rank& rank, std::size_t file, const Step& now);
  void close_later(Rank& rank, std::size_t file);
  void close(Rank& rank, std::size_t file, const std::function<void()>& wait);
  void wait_step(Rank& rank, std::size_t file, std::int64_t step);
  void check_memory(int rank, iocomp::client::Client& client);
  void ask_tickets(Rank& rank, std::size_t file);
  [[nodiscard]] int attempt(int rank, std::size_t file, const std::string& call,
                            const std::function<void()>& body);
  void failed(int rank, std::size_t file, const std::string& call, int code,
              const std::string& story);
  void kill_server_later();
  void kill_server();
  void say(int rank, const std::string& what);

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
  int connected_ = 0;                            // processes
  bool can_go_on_ = false;                       // when a server is lost
  std::vector<Network::Communicator*> members_;  // by file; null: all compute ranks
  std::vector<Told> told_;
  std::vector<std::vector<Ends>> ends_;
  std::vector<std::vector<Failures>> failures_of_;  // by rank and file
  std::vector<int> closes_;  // by file: ranks that have closed it without a failure
  std::vector<std::string> violations_;
  std::function<void(const std::string&)> log_;
  int failures_ = 0;
  bool servers_had_failures_ = false;
  bool was_killed_ = false;
  bool has_lost_server_ = false;
  bool is_late_ = false;  // somebody, for another
};

/// How every process of a simulated job uses the disk.
[[nodiscard]] iocomp::disk::Options usual_disk_options();

/// What is to be said of a process that is alive when its world has stopped.
[[nodiscard]] std::string how_it_hangs(const World& world);

}  // namespace simulation
