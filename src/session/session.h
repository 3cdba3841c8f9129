#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "array/decomposition.h"
#include "base/error.h"
#include "client/client.h"
#include "config/settings.h"
#include "contents/variable.h"
#include "disk/options.h"
#include "mpi/handle.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "server/server.h"
#include "session/seating.h"
#include "trace/counters.h"
#include "transport/shared_memory/shared_transport.h"
#include "transport/transport.h"

namespace iocomp::session {

// What the C functions work with, so that they need to know this room only.
using Client = client::Client;
using File = client::File;
using Input = client::Input;
using ReadArguments = client::ReadArguments;
using PutArguments = client::PutArguments;
using Decomposition = array::Decomposition;
using State = client::State;
using Attribute = contents::Attribute;
using Attributes = contents::Attributes;
using Counter = trace::Counter;
using Timer = trace::Timer;

enum class Role { compute = 1, server = 2, both = 3 };

/// One iocomp_init ... iocomp_finalize: splits the ranks, builds the client or the server, and
/// shuts them down.
class Session {
 public:
  /// Collective over `world`. A server serves in here until all compute ranks have finalized.
  /// @throws Error{invalid_setting}, the same on all ranks, when settings or placement are
  /// impossible.
  Session(MPI_Comm world, const std::string& program_settings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] Role role() const noexcept { return role_; }
  /// For the program: all compute ranks. MPI_COMM_NULL on a server.
  [[nodiscard]] MPI_Comm compute() const noexcept { return program_comm_.raw(); }
  /// @pre role() != server
  [[nodiscard]] client::Client& client() noexcept { return *client_; }
  [[nodiscard]] const config::Settings& settings() const noexcept { return settings_; }
  /// Whether a server shall return from init instead of leaving through exit.
  [[nodiscard]] bool server_returns() const { return settings_.boolean("server.returns"); }
  /// What a server's process shall exit with.
  [[nodiscard]] int exit_status() const;

  /// Settle everything. Collective. @return the first failure that nobody was told.
  [[nodiscard]] Outcome finalize();

 private:
  void read_settings(const std::string& program_settings);
  void start_without_servers();
  void start_asynchronous();
  void place_ranks(Seating& seating);
  void check_seats(Seating& seating);
  void share_staging(const Seating& seating);
  void split();
  void meet_peers();
  void give_program_its_communicator();
  void connect(const Seating& seating);
  [[nodiscard]] std::unique_ptr<transport::SharedTransport> join(const Seating& seating);
  [[nodiscard]] bool probe_transport();
  void serve();
  void summarize();

  mpi::WaitPolicy policy_;
  mpi::Communicator comm_;          // all ranks
  mpi::Communicator own_comm_;      // the ranks of this role
  mpi::Communicator program_comm_;  // the compute ranks, for the program
  MPI_Errhandler program_errors_ = MPI_ERRHANDLER_NULL;
  config::Settings settings_;
  disk::Options disk_;
  Role role_ = Role::both;
  std::string job_;
  int server_ = -1;              // session rank of this rank's server; its own if it serves
  std::string reason_;           // why, for people
  mpi::Peers servers_;           // session ranks by number
  int home_ = -1;                // compute rank: number of its server
  std::vector<int> neighbours_;  // compute rank: all with the same server
  std::map<int, int> clients_;   // server: its compute ranks by session rank
  std::size_t staging_share_ = 0;
  std::size_t chunk_bytes_ = 0;
  std::string transport_name_ = "direct";
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  bool server_had_failures_ = false;
};

}  // namespace iocomp::session
