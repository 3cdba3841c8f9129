// SPDX-License-Identifier: BSD-3-Clause
#include "placement/exchange.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "placement/order.h"

namespace iocomp::placement {
namespace {

struct Socket {
  int node;
  int socket;
  [[nodiscard]] bool operator==(const Socket&) const = default;
};

std::int64_t blocks_in(const std::vector<int>& grid) {
  std::int64_t blocks = 1;
  for (const int extent : grid) {
    blocks *= extent;
  }
  return blocks;
}

std::string grid_text(const std::vector<int>& grid) {
  std::string text;
  for (const int extent : grid) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text;
}

void check(const Exchange& exchange) {
  std::int64_t ranks = 0;
  for (const int share : exchange.ranks_of_node) {
    ranks += share;
    const std::int64_t cores =
        static_cast<std::int64_t>(exchange.sockets) * exchange.cores_per_socket;
    if (share > cores) {
      throw Error{ErrorCode::invalid_argument, "a node gets " + std::to_string(share) +
                                                   " ranks and has " + std::to_string(cores) +
                                                   " cores: nearest is more nodes"};
    }
    if (exchange.aggregators_per_node > share) {
      throw Error{ErrorCode::invalid_argument,
                  "asked for " + std::to_string(exchange.aggregators_per_node) +
                      " aggregators on a node with " + std::to_string(share) +
                      " ranks: nearest is " + std::to_string(share)};
    }
  }
  if (blocks_in(exchange.grid) != ranks) {
    throw Error{ErrorCode::invalid_argument,
                "a grid of " + grid_text(exchange.grid) + " has " +
                    std::to_string(blocks_in(exchange.grid)) + " blocks, and the job has " +
                    std::to_string(ranks) + " ranks: each rank has one block"};
  }
}

std::vector<Socket> socket_of_rank(const Exchange& exchange) {
  std::vector<Socket> sockets;
  for (std::size_t node = 0; node < exchange.ranks_of_node.size(); ++node) {
    for (int i = 0; i < exchange.ranks_of_node[node]; ++i) {
      const int socket = exchange.affinity == Affinity::accumulated ? i / exchange.cores_per_socket
                                                                    : i % exchange.sockets;
      sockets.push_back({.node = static_cast<int>(node), .socket = socket});
    }
  }
  return sockets;
}

}  // namespace

std::vector<SocketMessages> exchange_messages(const Exchange& exchange) {
  check(exchange);
  const auto sockets = socket_of_rank(exchange);
  const auto receivers =
      aggregators(exchange.order, exchange.ranks_of_node, exchange.aggregators_per_node);
  std::vector<SocketMessages> messages;
  for (std::size_t node = 0; node < exchange.ranks_of_node.size(); ++node) {
    for (int socket = 0; socket < exchange.sockets; ++socket) {
      messages.push_back({.node = static_cast<int>(node), .socket = socket});
    }
  }
  const auto at = [&](const Socket& place) -> SocketMessages& {
    return messages[static_cast<std::size_t>(place.node) *
                        static_cast<std::size_t>(exchange.sockets) +
                    static_cast<std::size_t>(place.socket)];
  };
  const auto count = [&](const Socket& from, const Socket& to) {
    if (from == to) {
      ++at(from).intra;
      return;
    }
    auto SocketMessages::* const kind =
        from.node == to.node ? &SocketMessages::inter : &SocketMessages::remote;
    ++(at(from).*kind);
    ++(at(to).*kind);
  };

  // Lines of the slowest dimension decide: layer j of it is the part [j, j + 1) / layers of the
  // file, domain k the part [k, k + 1) / domains.
  const auto layers = static_cast<std::int64_t>(exchange.grid.back());
  const auto domains = static_cast<std::int64_t>(receivers.size());
  const std::int64_t ranks_per_layer = blocks_in(exchange.grid) / layers;
  for (std::size_t rank = 0; rank < sockets.size(); ++rank) {
    const std::int64_t layer = static_cast<std::int64_t>(rank) / ranks_per_layer;
    const std::int64_t first = layer * domains / layers;
    const std::int64_t end = ((layer + 1) * domains + layers - 1) / layers;
    for (auto domain = first; domain < end; ++domain) {
      const auto receiver = static_cast<std::size_t>(receivers[static_cast<std::size_t>(domain)]);
      if (receiver != rank) {
        count(sockets[rank], sockets[receiver]);
      }
    }
  }
  return messages;
}

}  // namespace iocomp::placement
