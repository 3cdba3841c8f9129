// SPDX-License-Identifier: BSD-3-Clause
#include "client/link.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "client/remote/servers.h"
#include "client/tickets.h"
#include "client/waiting.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "trace/counters.h"
#include "transport/transport.h"

namespace iocomp::client {

void Journal::note(std::string text) {
  log::info(text);
  notes_.push_back(std::move(text));
}

void Journal::warn(std::string text) {
  log::warning(text);
  notes_.push_back(std::move(text));
}

void Journal::explain(std::string text) {
  constexpr std::size_t most = 1000;
  log::info(text);
  if (choices_.size() < most) {
    choices_.push_back(std::move(text));
  }
}

Link::Link(transport::Transport* transport, mpi::Peers servers, const mpi::WaitPolicy& policy,
           std::size_t buffer_limit_bytes)
    : transport_{transport},
      ledger_{transport, counters_},
      copies_{transport, buffer_limit_bytes},
      servers_{transport, std::move(servers), ledger_, progress_},
      waiting_{policy, servers_, counters_},
      run_lists_{[this](int server, std::vector<std::byte> message) {
        (void)post(server, std::move(message));
      }} {}

// @return the session rank of the server.
int Link::wait_for_credit(int server) {
  if (servers_.loss()) {
    throw ServersLost{};
  }
  const int rank = servers_.rank_of(server);
  if (transport_->held_back(rank) > 0) {
    const trace::Timer timer{counters_, trace::Counter::buffer_wait_seconds};
    wait_until([&] { return transport_->held_back(rank) == 0; },
               [&] {
                 return "server " + std::to_string(server) + " (rank " + std::to_string(rank) +
                        ") to take earlier messages of this rank";
               });
  }
  counters_.add(trace::Counter::control_messages, 1);
  return rank;
}

transport::PostId Link::post(int server, std::vector<std::byte> message,
                             std::span<const std::byte> bulk, std::size_t chunk_bytes) {
  const int rank = wait_for_credit(server);
  return transport_->post(rank, std::move(message), bulk, chunk_bytes);
}

transport::PostId Link::post_strided(int server, std::vector<std::byte> message,
                                     const transport::StridedBytes& bulk) {
  const int rank = wait_for_credit(server);
  return transport_->post_strided(rank, std::move(message), bulk);
}

Copy Link::copy_buffer(std::size_t bytes, std::size_t page_remainder) {
  const auto need_not_wait = [&] {
    const bool comes_back = servers_.have_copies() || copies_.copies_for_disk() > 0;
    return bytes > copies_.limit_bytes() || copies_.has_room(bytes) || !comes_back;
  };
  if (!need_not_wait()) {
    const trace::Timer timer{counters_, trace::Counter::buffer_wait_seconds};
    wait_until(need_not_wait, [] {
      return std::string{"servers to take copies of earlier blocks (client.buffer_memory is full)"};
    });
  }
  Copy copy = copies_.take(bytes, page_remainder);
  counters_.add(trace::Counter::copied_bytes, static_cast<double>(bytes));
  return copy;
}

void Link::count_transport() {
  if (crew_ != nullptr) {
    counters_.set(trace::Counter::writer_threads, crew_->threads());
    counters_.set(trace::Counter::divided_bytes, static_cast<double>(crew_->divided_bytes()));
  }
  if (transport_ == nullptr) {
    return;
  }
  const transport::Tally tally = transport_->tally();
  counters_.set(trace::Counter::sleeps, tally.sleeps);
  counters_.set(trace::Counter::wake_ups, tally.wake_ups);
}

}  // namespace iocomp::client
