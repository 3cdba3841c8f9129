#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/peers.h"
#include "protocol/messages.h"
#include "steps/council.h"
#include "transport/survivors.h"
#include "transport/transport.h"

namespace iocomp::server {

/// What a server sends: messages to servers (itself included, without MPI), answers to compute
/// ranks, and notices, which are collected and sent once per round of the loop.
class PostOffice : public steps::Council {
 public:
  PostOffice(transport::Transport& transport, mpi::Peers servers, int number);

  void to_server(int server, std::vector<std::byte> message);
  [[nodiscard]] int writers() const override { return servers_.size(); }
  void to_all(std::vector<std::byte> message) override;
  void to_writer(int server, std::vector<std::byte> message) override {
    to_server(server, std::move(message));
  }
  /// @param rank  session rank of a compute rank.
  void to_rank(int rank, std::vector<std::byte> message);
  void notify(int rank, protocol::Notice notice);
  /// Something that the compute ranks shall know should this server end.
  void write_note(std::uint64_t note) {
    if (auto* const survivors = transport_.survivors()) {
      survivors->write_note(note);
    }
  }
  /// Send the notices collected so far.
  void flush();

  /// The next message of this server to itself.
  [[nodiscard]] std::optional<transport::Incoming> take_own();
  [[nodiscard]] bool has_own() const noexcept { return !own_.empty(); }

 private:
  transport::Transport& transport_;
  mpi::Peers servers_;
  int number_;
  std::deque<std::vector<std::byte>> own_;
  std::map<int, std::vector<protocol::Notice>> notices_;
};

}  // namespace iocomp::server
