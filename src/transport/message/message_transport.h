// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/transport.h"

namespace iocomp::transport {

/// The transport over MPI messages, for any two ranks. Control messages and bulk chunks have a tag
/// each. The receiver posts the receive of a chunk only when it has memory for it. So with a
/// rendezvous protocol (all but the smallest messages) MPI buffers nothing. Credits limit the
/// messages that a sender may have on their way.
class MessageTransport : public Transport {
 public:
  /// @param comm     of the session, used by nobody else; errors are returned.
  /// @param window   messages that a compute rank may have on their way to one server.
  /// @param limited  true if this rank's own posts need credits: those of compute ranks do, those
  /// of servers do not.
  MessageTransport(MPI_Comm comm, int window, bool limited);
  ~MessageTransport() override;

  PostId post(int rank, std::vector<std::byte> message, std::span<const std::byte> bulk,
              std::size_t chunk_bytes) override;
  bool is_taken(PostId post) override;
  std::size_t held_back(int rank) const override;
  std::optional<Incoming> poll() override;
  void give_credit(int rank) override;
  FetchId fetch(int rank, std::span<std::byte> memory) override;
  std::optional<FetchId> next_fetched() override;
  bool progress() override;
  Tally tally() const override { return tally_; }
  bool is_idle() const override;

 private:
  struct Outgoing {
    PostId id = 0;
    std::vector<std::byte> message;
    std::span<const std::byte> bulk;
    std::size_t chunk_bytes = 0;
  };
  struct Sent {          // data that a send request reads, or is part of
    PostId bulk_of = 0;  // 0: a control message
    std::vector<std::byte> message;
  };
  struct Peer {
    std::int64_t credits = 0;       // messages that may still be sent to it
    std::int64_t owed_credits = 0;  // of the peer, to be returned to it
    std::deque<Outgoing> held;
  };

  void send(int rank, Outgoing outgoing);
  void start_send(int rank, int tag, std::span<const std::byte> bytes, Sent sent);
  std::optional<Incoming> receive(int tag);
  bool receive_credits();
  bool test_sends();
  bool test_fetches();

  MPI_Comm comm_;
  std::int64_t window_;
  bool limited_;
  PostId next_post_ = 1;
  FetchId next_fetch_ = 1;
  std::vector<MPI_Request> send_requests_;  // and, by the same index:
  std::vector<Sent> sent_;
  std::vector<MPI_Request> fetch_requests_;                // and, by the same index:
  std::vector<std::pair<FetchId, std::size_t>> fetching_;  // bytes expected
  std::vector<int> completed_;                             // scratch of MPI_Testsome
  std::vector<MPI_Status> statuses_;
  std::deque<FetchId> fetched_;
  std::unordered_map<PostId, std::size_t> chunks_left_;  // of posts with bulk data
  std::unordered_map<int, Peer> peers_;
  Tally tally_;
};

}  // namespace iocomp::transport
