// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "array/decomposition.h"
#include "base/crew.h"
#include "base/error.h"
#include "base/signals.h"
#include "client/client.h"
#include "config/settings.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "protocol/messages.h"
#include "reading/input.h"
#include "session/configuration.h"
#include "session/connection.h"
#include "session/ranks.h"
#include "session/seating.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/timeline.h"
#include "transport/shared_memory/node_stripes.h"

namespace iocomp::session {

/// The end of the job as far as this rank knows: signals that have come, and the time that is left.
class Stopping {
 public:
  Stopping(const config::Settings& settings, bool warns);

  /// True if a signal is one of those that tell to stop.
  [[nodiscard]] bool catches(int signal) const noexcept { return signals_.watches(signal); }
  /// The reason why the program should stop now, as far as this rank knows; empty: it need not.
  [[nodiscard]] std::string reason() const;
  /// The program was told to stop: signals that come later do not end it.
  void was_told() const { signals_.ignore_afterwards(); }

 private:
  SignalWatch signals_;
  std::string signal_names_;
  std::optional<double> moment_;  // s since 1970
};

/// The calls of the program, which come one at a time.
class Calls {
 public:
  /// @param policy  of the session: the waits of a call share its deadline.
  explicit Calls(const mpi::WaitPolicy& policy);

  /// Another call begins. Warns, once, if it comes from a thread that must not call MPI.
  void begin();

 private:
  void check_thread();

  mpi::WaitPolicy policy_;
  bool is_checked_ = false;  // MPI allows calls from all threads, or the program was warned
  std::thread::id last_;     // thread that called
};

/// Calls back when the program calls MPI_Finalize while this lives. MPI can still be used then.
class FinalizeWatch {
 public:
  explicit FinalizeWatch(std::function<void()> call);
  FinalizeWatch(const FinalizeWatch&) = delete;
  FinalizeWatch& operator=(const FinalizeWatch&) = delete;
  ~FinalizeWatch();

 private:
  static int finalizing(MPI_Comm comm, int key, void* watch, void* unused);

  std::function<void()> call_;
  int key_ = MPI_KEYVAL_INVALID;
};

/// The communicator that the program uses in the place of its own. It behaves as that one does when
/// an MPI call fails.
class ProgramCommunicator {
 public:
  explicit ProgramCommunicator(MPI_Comm world);
  ~ProgramCommunicator();
  ProgramCommunicator(const ProgramCommunicator&) = delete;
  ProgramCommunicator& operator=(const ProgramCommunicator&) = delete;

  /// Collective over `compute_ranks`.
  void make(const mpi::Communicator& compute_ranks, const mpi::WaitPolicy& policy);
  /// MPI_COMM_NULL before `make`.
  [[nodiscard]] MPI_Comm raw() const noexcept { return comm_.raw(); }

 private:
  mpi::Communicator comm_;
  MPI_Errhandler errors_ = MPI_ERRHANDLER_NULL;
};

// The types that the C functions work with, so that they need to know this room only.
using Client = client::Client;
using File = client::File;
using Input = reading::Input;
using ReadArguments = reading::ReadArguments;
using PutArguments = client::PutArguments;
using Decomposition = array::Decomposition;
using State = client::State;
using Attribute = contents::Attribute;
using Attributes = contents::Attributes;
using Counter = trace::Counter;
using Timer = trace::Timer;
using What = trace::What;
using contents::dimensions_attribute;
using contents::dtype_attribute;
using contents::list_attribute;
using contents::text_attribute;
using contents::time_dimension;
constexpr std::int64_t behind_the_last = protocol::everything;  ///< of Client::open

/// One iocomp_init ... iocomp_finalize: splits the ranks, builds the client or the server, and
/// shuts them down.
class Session {
 public:
  /// Collective over `world`. A server serves in here until all compute ranks have finalized.
  /// @throws Error{invalid_setting}, the same on all ranks, when settings or placement are
  /// impossible.
  Session(MPI_Comm world, const std::string& program_settings);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] Role role() const noexcept { return ranks_->role(); }
  /// The communicator of all compute ranks, for the program. MPI_COMM_NULL on a server.
  [[nodiscard]] MPI_Comm compute() const noexcept { return program_comm_.raw(); }
  /// The program has called, from whatever thread.
  void begin_call();
  /// @pre role() != server
  [[nodiscard]] client::Client& client() noexcept { return *client_; }
  [[nodiscard]] const config::Settings& settings() const noexcept {
    return configuration_.settings;
  }
  /// True if a server returns from init instead of leaving through exit.
  [[nodiscard]] bool server_returns() const { return settings().text("server.end") == "return"; }
  /// The exit status of a server's process.
  [[nodiscard]] int exit_status() const;

  /// True if the program should stop, because of a signal or the time: the same on all ranks, and
  /// for good. Collective over the compute ranks. Cost: a sum of 8 bytes over them.
  [[nodiscard]] bool should_stop();
  /// True if the program has called MPI_Finalize: then this object must not be destroyed.
  [[nodiscard]] bool was_abandoned() const noexcept { return was_abandoned_; }
  /// Settle everything. Collective. @return the first failure that nobody was told.
  [[nodiscard]] Outcome finalize();

 private:
  void start_without_servers();
  void start_with_servers();
  [[nodiscard]] std::string start_line() const;
  void start_crew(const Seating& seating);
  void start_client(client::Place place);
  void serve(std::size_t staging_bytes, double core_share, const SignalWatch& termination);
  void give_up();
  void part();
  void finish_timeline();

  mpi::Communicator comm_;  // all ranks
  ProgramCommunicator program_comm_;
  Configuration configuration_;
  Calls calls_;
  Stopping stopping_;
  std::unique_ptr<trace::Timeline> timeline_;  // null: none is written
  std::unique_ptr<Ranks> ranks_;
  std::unique_ptr<Crew> crew_;  // null: each request is done by one thread
  Connection connection_;
  std::unique_ptr<transport::NodeStripes> stripes_;  // null: each rank writes its own short runs
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<FinalizeWatch> finalize_watch_;  // of a compute rank
  bool stops_ = false;
  bool was_abandoned_ = false;
  bool server_had_failures_ = false;
};

}  // namespace iocomp::session
