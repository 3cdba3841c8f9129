#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "transport/shared_memory/channel.h"
#include "transport/shared_memory/doorbell.h"
#include "transport/shared_memory/exported_memory.h"
#include "transport/shared_memory/records.h"
#include "transport/transport.h"

namespace iocomp::transport {

/// What SharedTransport knows of another process of the node.
struct Peer {
  int rank = -1;           ///< in the session
  std::size_t number = 0;  ///< on the node
  pid_t pid = 0;
  bool runs_elsewhere = false;  ///< on none of this process's hardware threads
  Channel channel;
  Doorbell<Atomics> bell;

  // As a receiver of this process:
  struct Held {
    PostId post = 0;
    std::vector<std::byte> message;
  };
  std::int64_t credits = 0;
  std::deque<Held> held;  ///< posts that wait for credits

  // As a sender to this process:
  struct Offered {
    Offer offer;
    std::uint64_t next = 0;         ///< bytes asked for so far
    std::optional<Strided> rows{};  ///< where they do not lie in one piece
  };
  struct Copying {
    FetchId fetch = 0;
    PostId post = 0;
    std::span<std::byte> memory;
  };
  std::int64_t owed_credits = 0;
  std::deque<Offered> offers;                       ///< not asked for as a whole
  std::unordered_map<PostId, std::uint64_t> owing;  ///< bytes that are still needed
  std::deque<Copying> copying;                      ///< asked for, in this order
  ImportedMemory memory;
  bool refuses_pull = false;
};

}  // namespace iocomp::transport
