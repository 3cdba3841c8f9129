// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "placement/order.h"

namespace iocomp::placement {

/// The order in which a launcher deals the ranks of a node to its sockets.
enum class Affinity {
  accumulated,  ///< ranks fill a socket first
  distributed,  ///< ranks go round-robin over the sockets
};

/// Collective output of an array that is cut into a grid of blocks, one per rank.
struct Exchange {
  std::vector<int> grid{};  ///< blocks in each dimension, the fastest first; ranks in this order
  std::vector<int> ranks_of_node{};
  int sockets = 1;  ///< of every node
  int cores_per_socket = 1;
  int aggregators_per_node = 1;
  Order order = Order::packed;
  Affinity affinity = Affinity::accumulated;
};

/// Messages that a socket takes part in, as sender or receiver.
struct SocketMessages {
  int node = 0;
  int socket = 0;
  std::int64_t inter = 0;   ///< the other end is on another socket of the node
  std::int64_t intra = 0;   ///< both ends are on this socket
  std::int64_t remote = 0;  ///< the other end is on another node
};

/// Count the messages of the exchange, by node and socket.
/// The file is cut into one contiguous domain of whole lines for each aggregator, in the order of
/// their ranks; a rank sends one message to each aggregator whose domain its block touches, none to
/// itself. This rule gives the table of Cha, Maeng 2011 (docs/developers/benchmark_figures.md).
/// Cost: O(ranks + messages).
/// @throws Error{invalid_argument} naming what does not fit together.
[[nodiscard]] std::vector<SocketMessages> exchange_messages(const Exchange& exchange);

}  // namespace iocomp::placement
