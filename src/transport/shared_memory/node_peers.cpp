// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/node_peers.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "transport/shared_memory/byte_ring.h"
#include "transport/shared_memory/channel.h"
#include "transport/shared_memory/doorbell.h"
#include "transport/shared_memory/join_node.h"

namespace iocomp::transport {

namespace {

// Uses what the system tells at the start. A process that is not bound may run anywhere.
bool is_apart(pid_t process) {
  cpu_set_t own;
  cpu_set_t other;
  cpu_set_t both;
  if (sched_getaffinity(0, sizeof own, &own) != 0 ||
      sched_getaffinity(process, sizeof other, &other) != 0) {
    return false;
  }
  CPU_AND(&both, &own, &other);
  return CPU_COUNT(&both) == 0;
}

}  // namespace

NodePeers::NodePeers(const NodeMemory& node) : node_{node} {
  for (std::size_t process = 0; process < node.plan.processes(); ++process) {
    peers_.push_back(node.plan.talk(node.self, process) ? meet(process) : nullptr);
    if (peers_.back()) {
      numbers_.emplace(peers_.back()->rank, process);
    }
  }
}

Doorbell<Atomics> NodePeers::bell_of(std::size_t process) const {
  std::byte* const segment = node_.segment.bytes().data();
  auto* const state = reinterpret_cast<BellState<Atomics>*>(segment + node_.plan.bell(process));
  auto* const bits = reinterpret_cast<BellBits<Atomics>*>(segment + node_.plan.bell_bits(process));
  return {*state, {bits, node_.plan.bit_words()}};
}

std::unique_ptr<Peer> NodePeers::meet(std::size_t process) const {
  std::byte* const segment = node_.segment.bytes().data();
  const auto ring = [&](std::size_t from, std::size_t to) {
    auto* const ends =
        reinterpret_cast<RingEnds<Atomics>*>(segment + node_.plan.ring_ends(from, to));
    return ByteRing<Atomics>{*ends, segment + node_.plan.ring_memory(from, to),
                             node_.plan.ring_bytes()};
  };
  return std::make_unique<Peer>(
      Peer{.rank = node_.ranks[process],
           .number = process,
           .pid = node_.pids[process],
           .runs_elsewhere = is_apart(node_.pids[process]),
           .channel = Channel{ring(node_.self, process), ring(process, node_.self)},
           .bell = bell_of(process)});
}

void NodePeers::rouse_all() const {
  for (std::size_t process = 0; process < processes(); ++process) {
    if (process != node_.self) {
      bell_of(process).rouse();
    }
  }
}

bool NodePeers::have_pushed_all() const {
  return std::ranges::all_of(
      peers_, [](const auto& peer) { return !peer || peer->channel.has_pushed_all(); });
}

}  // namespace iocomp::transport
