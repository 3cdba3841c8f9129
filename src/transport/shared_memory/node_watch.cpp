// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/node_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/system_file.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/node_peers.h"

namespace iocomp::transport {
namespace {

constexpr double look_seconds = 0.25;
// A look counts for no more than this, also after a pause of this process: when a whole job was
// stopped, not all processes go on at once.
constexpr double longest_step = 0.5;
constexpr double longest_quiet = 1.5;

// Its state as in /proc/<pid>/stat; a blank if there is none.
char state_of(pid_t process) {
  const std::string text = read_system_file("/proc/" + std::to_string(process) + "/stat");
  const auto end_of_name = text.rfind(") ");
  return end_of_name == std::string::npos ? ' ' : text[end_of_name + 2];
}

int open_process(pid_t process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#else
  return -1;
#endif
}

}  // namespace

NodeWatch::NodeWatch(const NodeMemory& node, NodePeers& peers, bool keeps_notes)
    : node_{node},
      peers_{peers},
      keeps_notes_{keeps_notes},
      state_{reinterpret_cast<NodeState*>(node.segment.bytes().data() + node.plan.state())},
      own_{&life(node.self)} {
  if (!node.knows_processes) {
    return;  // in namespaces of their own, a number may be another process
  }
  for (std::size_t process = 0; process < node.plan.processes(); ++process) {
    if (process != node.self && node.plan.serves(process) != node.plan.serves(node.self)) {
      auto& watched = node.plan.serves(process) ? servers_ : compute_ranks_;
      const pid_t pid = node.pids[process];
      watched.push_back({.number = process, .pid = pid, .descriptor = open_process(pid)});
    }
  }
}

NodeWatch::~NodeWatch() {
  for (const auto* all : {&servers_, &compute_ranks_}) {
    for (const auto& one : *all) {
      if (one.descriptor >= 0) {
        close(one.descriptor);
      }
    }
  }
}

Life& NodeWatch::life(std::size_t process) const {
  return *reinterpret_cast<Life*>(node_.segment.bytes().data() + node_.plan.life(process));
}

bool NodeWatch::is_given_up() {
  own_->beat.store(own_->beat.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return state_->given_up.load() != 0;
}

bool NodeWatch::was_given_up() const { return state_->given_up.load() != 0; }

void NodeWatch::leave() {
  own_->left.store(1, std::memory_order_release);
  peers_.rouse_all();
}

void NodeWatch::write_note(std::uint64_t note) {
  if (keeps_notes_) {
    state_->note[state_->next_note.fetch_add(1) % NodeState::notes].store(note);
  }
}

bool NodeWatch::has_note(std::uint64_t note) const {
  return keeps_notes_ && std::any_of(std::begin(state_->note), std::end(state_->note),
                                     [note](const auto& one) { return one.load() == note; });
}

bool NodeWatch::has_left(const Watched& one) const {
  return life(one.number).left.load(std::memory_order_acquire) != 0;
}

bool NodeWatch::has_ended(const Watched& one) const {
  if (one.descriptor < 0) {  // the kernel has no such descriptors
    const char state = kill(one.pid, 0) != 0 && errno == ESRCH ? 'X' : state_of(one.pid);
    return state == 'X' || state == 'Z';
  }
  pollfd ended{.fd = one.descriptor, .events = POLLIN, .revents = 0};
  return poll(&ended, 1, 0) == 1;
}

bool NodeWatch::is_stopped(const Watched& one) { return state_of(one.pid) == 'T'; }

std::optional<NodeWatch::Loss> NodeWatch::told() const {
  const std::uint32_t given_up = state_->given_up.load();
  if (given_up == 0) {
    return std::nullopt;
  }
  const std::size_t number = given_up - 1;
  return Loss{node_.ranks[number], node_.pids[number], state_->has_ended.load() != 0};
}

// The process that does it first wakes the others.
void NodeWatch::give_up(const Watched& server, bool ended) {
  std::uint32_t nobody = 0;
  state_->has_ended.store(ended ? 1 : 0);
  if (state_->given_up.compare_exchange_strong(nobody,
                                               static_cast<std::uint32_t>(server.number) + 1)) {
    peers_.rouse_all();
  }
}

void NodeWatch::ring_servers() {
  peers_.for_each([this](Peer& peer) {
    if (node_.plan.serves(peer.number)) {
      peers_.ring(peer);
    }
  });
}

std::optional<NodeWatch::Loss> NodeWatch::lost(bool waits) {
  if (const auto loss = told()) {
    return loss;
  }
  const double now = now_seconds();
  const double passed = now - looked_at_;
  if (passed < look_seconds) {
    return std::nullopt;
  }
  looked_at_ = now;
  bool any_is_quiet = false;
  for (auto& server : servers_) {
    if (has_left(server)) {
      continue;
    }
    // The server may have left between the two looks.
    const bool ended = has_ended(server) && !has_left(server);
    const std::uint64_t beat = life(server.number).beat.load(std::memory_order_relaxed);
    // Without notes nobody carries on. Then a server that may go on is waited for.
    const bool is_quiet = waits && keeps_notes_ && beat == server.beat;
    server.beat = beat;
    server.quiet_seconds = is_quiet ? server.quiet_seconds + std::min(passed, longest_step) : 0;
    any_is_quiet = any_is_quiet || is_quiet;
    if (ended || (server.quiet_seconds >= longest_quiet && is_stopped(server))) {
      give_up(server, ended);
      return told();
    }
  }
  if (any_is_quiet) {  // a sleeping server shows no beat, so wake it for one
    ring_servers();
  }
  return std::nullopt;
}

bool NodeWatch::servers_are_gone() const {
  return std::ranges::all_of(servers_, [this](const Watched& one) {
    return has_left(one) || has_ended(one) || is_stopped(one);
  });
}

bool NodeWatch::compute_ranks_are_gone() const {
  return std::ranges::all_of(
      compute_ranks_, [this](const Watched& one) { return has_left(one) || has_ended(one); });
}

}  // namespace iocomp::transport
