#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/settings.h"
#include "disk/options.h"
#include "mpi/wait.h"
#include "protocol/messages.h"
#include "server/actions.h"
#include "server/context.h"
#include "server/file.h"
#include "server/home.h"
#include "server/intake.h"
#include "server/lead.h"
#include "transport/transport.h"

namespace iocomp::server {

/// The I/O side of a session: one loop that takes in messages and pieces, hands writes to the disk
/// engine, and sleeps when there is nothing to do. Only this loop calls MPI.
class Server {
 public:
  Server(const config::Settings& settings, const mpi::WaitPolicy& policy, const disk::Options& disk,
         Place place, transport::Transport& transport);

  /// Serve until all compute ranks have said bye.
  /// @return false if they went on without servers, and all have gone.
  bool serve();

  /// Something failed that no compute rank was told of... counted over this server.
  [[nodiscard]] bool had_failures() const {
    return context_.counters[trace::Counter::failures] > 0;
  }

 private:
  struct Entry {  // a file in up to three roles
    std::unique_ptr<File> file;
    std::unique_ptr<HomeFile> home;
    std::unique_ptr<LeadFile> lead;
    // Of members of other homes, before this server knows the file.
    std::vector<std::pair<int, protocol::StepNote>> early_flushes;
  };
  bool round();
  bool write_stripes(bool moved);
  void stop_writing();
  // Whether all that this loop waits for ends its sleep by itself.
  [[nodiscard]] bool is_woken_for_everything() const;
  void sleep(std::chrono::nanoseconds longest);
  bool take_messages();
  bool take_completions();
  void dispatch(transport::Incoming incoming);
  void from_client(const protocol::Header& header, int client, std::span<const std::byte> body);
  void from_server(const protocol::Header& header, std::span<const std::byte> body);
  void to_lead(const protocol::Header& header, std::span<const std::byte> body);
  void to_file(const protocol::Header& header, std::span<const std::byte> body);
  void begin_lead(std::uint64_t key, const protocol::Open& open);
  void know_file(std::uint64_t key, const protocol::Open& open);
  void perform(std::uint64_t key, protocol::ActionNote note);
  void say_bye();
  void forget_finished();

  std::unique_ptr<disk::Engine> engine_;
  Worker worker_;
  staging::Arena arena_;
  PostOffice post_;
  Context context_;
  transport::Transport& transport_;
  Intake intake_;
  Actions actions_;
  std::unordered_map<std::uint64_t, Entry> files_;
  std::size_t clients_gone_ = 0;
  int servers_gone_ = 0;  // lead only
  trace::Counters all_;   // lead only: summed over the servers
  double began_ = 0;
  bool has_stripes_ = false;
  bool finished_ = false;
};

}  // namespace iocomp::server
