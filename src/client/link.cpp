#include "client/link.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/futex.h"
#include "client/tickets.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "trace/counters.h"
#include "transport/transport.h"

namespace iocomp::client {

using protocol::Kind;
using protocol::Notice;

namespace {

// Where every arrival wakes this rank: long enough to cost nothing, short beside any deadline.
constexpr std::chrono::milliseconds longest_sleep{100};

}  // namespace

Link::Link(transport::Transport* transport, mpi::Peers servers, const mpi::WaitPolicy& policy,
           std::size_t buffer_limit_bytes)
    : transport_{transport},
      servers_{std::move(servers)},
      policy_{policy},
      buffer_limit_{buffer_limit_bytes},
      copy_memory_{transport, buffer_limit_bytes},
      run_lists_{[this](int server, std::vector<std::byte> message) {
        (void)post(server, std::move(message));
      }} {}

// @return the session rank of the server.
int Link::wait_for_credit(int server) {
  if (loss_) {
    throw ServersLost{};
  }
  const int rank = servers_.rank(server);
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

bool Link::pump() {
  const bool moved = mover_ && mover_();
  if (!has_servers()) {
    return moved;
  }
  look_for_loss(false);
  return receive() || moved;
}

void Link::pump_while_waiting() {
  if (has_servers()) {
    look_for_loss(true);
    if (loss_) {
      throw ServersLost{};
    }
  }
  (void)pump();
}

bool Link::receive() {
  bool moved = transport_->progress();
  while (const auto incoming = transport_->poll()) {
    dispatch(*incoming);
    moved = true;
  }
  if (moved) {
    release_copies();
  }
  return moved;
}

// What the servers have told before they were given up is heard all the same.
void Link::look_for_loss(bool waits) {
  const auto lost = loss_ ? std::nullopt : transport_->lost(waits);
  if (!lost) {
    return;
  }
  while (receive()) {
  }
  int number = 0;
  while (number < servers_.size() && servers_.rank(number) != lost->rank) {
    ++number;
  }
  loss_ = "server " + std::to_string(number) + " (rank " + std::to_string(lost->rank) +
          ", process " + std::to_string(lost->process) + ") " +
          (lost->ended ? "has ended" : "does not respond");
}

bool Link::wait_for_end_of_servers() {
  const Outcome ended = outcome_of([this] {
    mpi::Nap nap{policy_};
    mpi::Deadline deadline{policy_};
    while (!transport_->servers_are_gone()) {
      nap.pause();
      deadline.check([] { return std::string{"the other servers to leave the file"}; });
    }
  });
  while (receive()) {
  }
  return ended.ok();
}

Copy Link::take_copy(transport::PostId post) {
  Copy copy;
  std::erase_if(copies_, [&](HeldCopy& held) {
    if (held.post == post) {
      copy = std::move(held.copy);
      buffer_used_ -= held.bytes;
    }
    return held.post == post;
  });
  return copy;
}

void Link::wait_until(const std::function<bool()>& done, const std::function<std::string()>& what) {
  mpi::Nap nap{policy_};
  mpi::Deadline deadline{policy_};
  while (!done()) {
    if (has_servers()) {
      look_for_loss(true);
      if (loss_ && !done()) {
        throw ServersLost{};
      }
    }
    if (pump() || sleep(nap)) {
      nap.reset();
      deadline.moved();
    } else {
      deadline.check(what);
    }
  }
}

// Sleep once, shortly. @return whether something had come before it did.
bool Link::sleep(mpi::Nap& nap) {
  bool moved = false;
  const auto sleep_for = [&](std::chrono::nanoseconds longest) {
    const auto word = has_servers() ? transport_->watch() : std::nullopt;
    if (!word) {
      sleep_ ? sleep_(longest, word) : std::this_thread::sleep_for(longest);
      return;
    }
    // Who sends from here on wakes this process; what came before is found by one more look.
    moved = pump();
    if (!moved) {
      sleep_ ? sleep_(longest, word) : futex_wait(*word, longest);
    }
    transport_->unwatch();
  };
  const bool is_woken = has_servers() && !transport_->needs_looks();
  if (is_woken && policy_.kind == mpi::WaitPolicy::Kind::sleep) {
    sleep_for(longest_sleep);
  } else {
    nap.pause(sleep_for);
  }
  return moved;
}

void Link::count_transport() {
  if (transport_ == nullptr) {
    return;
  }
  const transport::Tally tally = transport_->tally();
  counters_.set(trace::Counter::sleeps, tally.sleeps);
  counters_.set(trace::Counter::wake_ups, tally.wake_ups);
}

Copy Link::copy_buffer(std::size_t bytes, std::size_t page_remainder) {
  if (bytes > buffer_limit_) {
    throw Error{ErrorCode::out_of_staging_memory,
                "asked for a copy of " + format_bytes(static_cast<std::int64_t>(bytes)) +
                    ", client.buffer_memory is " +
                    format_bytes(static_cast<std::int64_t>(buffer_limit_)) +
                    ": put the block in parts, unbuffered from dense memory, or raise the setting"};
  }
  if (buffer_used_ + bytes > buffer_limit_) {
    const trace::Timer timer{counters_, trace::Counter::buffer_wait_seconds};
    wait_until([&] { return buffer_used_ + bytes <= buffer_limit_; },
               [] {
                 return std::string{
                     "servers to take copies of earlier blocks (client.buffer_memory is full)"};
               });
  }
  counters_.add(trace::Counter::copied_bytes, static_cast<double>(bytes));
  return copy_memory_.take(bytes, page_remainder);
}

void Link::free_when_taken(Copy copy, transport::PostId post, std::size_t bytes) {
  buffer_used_ += bytes;
  copies_.push_back({std::move(copy), post, bytes});
}

void Link::release_copies() {
  std::erase_if(copies_, [this](const HeldCopy& held) {
    const bool taken = transport_->is_taken(held.post);
    buffer_used_ -= taken ? held.bytes : 0;
    return taken;
  });
}

bool Link::has_reached(std::uint64_t number, State state) {
  Ticket* ticket = tickets_.find(number);
  if (ticket == nullptr) {
    return true;
  }
  if (transport_ != nullptr) {
    std::erase_if(ticket->posts, [this](auto post) { return transport_->is_taken(post); });
  }
  if (!ticket->failure.ok()) {
    // The memory is not free before the servers have drained it, failed or not.
    if (state == State::handed_over && !ticket->posts.empty()) {
      return false;
    }
    failures_.told(ticket->file, ticket->failure.story);
    throw Error{ticket->failure.code, ticket->failure.story};
  }
  bool reached = ticket->posts.empty() && !ticket->kept;
  if (state == State::written) {
    reached = ticket->written == ticket->pieces;
  } else if (state == State::durable) {
    reached = ticket->durable == ticket->pieces;
  }
  tickets_.settle(number);
  return reached;
}

bool Link::all_taken(std::uint64_t file) {
  bool all = true;
  std::vector<std::uint64_t> settled;
  tickets_.for_each([&](std::uint64_t number, Ticket& ticket) {
    if (ticket.file == file) {
      std::erase_if(ticket.posts, [this](auto post) { return transport_->is_taken(post); });
      all = all && ticket.posts.empty();
      settled.push_back(number);
    }
  });
  std::for_each(settled.begin(), settled.end(), [this](auto number) { tickets_.settle(number); });
  return all;
}

void Link::fail(std::uint64_t file, std::uint64_t number, const Outcome& outcome) {
  if (Ticket* ticket = tickets_.find(number); ticket != nullptr && ticket->failure.ok()) {
    ticket->failure = outcome;
  }
  failures_.add(file, outcome);
  counters_.add(trace::Counter::failures, 1);
}

void Link::dispatch(const transport::Incoming& incoming) {
  const auto header = protocol::check_header(incoming.message, incoming.sender);
  const auto body = protocol::body(incoming.message);
  switch (header.kind) {
    case Kind::opened:
      files_[header.file].opened = protocol::decode_opened(body);
      break;
    case Kind::notices:
      for (const auto& notice : protocol::decode_notices(body)) {
        take_notice(notice);
      }
      break;
    case Kind::closed:
      files_[header.file].closed = protocol::decode_outcome(body);
      break;
    case Kind::farewell:
      farewell_ = protocol::decode_counters(body);
      break;
    default:
      throw Error{ErrorCode::internal, "a compute rank got a message of kind " +
                                           std::to_string(static_cast<int>(header.kind))};
  }
}

void Link::take_notice(const Notice& notice) {
  switch (notice.about) {
    case Notice::About::written:
    case Notice::About::durable:
      if (Ticket* ticket = tickets_.find(notice.number); ticket != nullptr) {
        ++(notice.about == Notice::About::written ? ticket->written : ticket->durable);
        if (ticket->durable == ticket->pieces) {
          std::erase_if(ticket->posts, [this](auto post) { return transport_->is_taken(post); });
          tickets_.settle(notice.number);
        }
      }
      break;
    case Notice::About::failed:
      fail(notice.file, notice.number, notice.outcome);
      break;
    case Notice::About::settled: {
      RemoteFile& remote = files_[notice.file];
      const auto step = static_cast<std::int64_t>(notice.number);
      remote.settled = std::max(remote.settled, step + 1);
      if (!notice.outcome.ok()) {
        remote.failures.emplace(step, notice.outcome);
        failures_.add(notice.file, notice.outcome);
      }
      break;
    }
    case Notice::About::file_failed:
      files_[notice.file].failed = notice.outcome;
      files_[notice.file].failed_from = static_cast<std::int64_t>(notice.number);
      failures_.add(notice.file, notice.outcome);
      break;
  }
}

}  // namespace iocomp::client
