// SPDX-License-Identifier: BSD-3-Clause
#include "server/server.h"

#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/crew.h"
#include "base/error.h"
#include "base/log.h"
#include "config/log_level.h"
#include "mpi/error.h"
#include "mpi/wait.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "server/served_file.h"
#include "trace/counters.h"
#include "transport/shared_memory/node_watch.h"
#include "transport/transport.h"

namespace iocomp::server {
namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Goodbyes::Goodbyes(Context& context, const transport::Transport& transport)
    : context_{context}, transport_{transport}, began_{now_seconds()}, last_heard_{began_} {}

bool Goodbyes::client_left(int client) {
  last_left_ = now_seconds();
  return clients_gone_.insert(client).second;
}

bool Goodbyes::advance(bool is_done) {
  if (clients_gone_.size() < context_.place.clients.size()) {
    return false;
  }
  if (has_told_ || servers_gone_ < std::ssize(context_.post.tree().below())) {
    leave_alone();
    return false;
  }
  const double deadline = context_.policy.deadline_seconds;
  const bool is_late = deadline > 0 && now_seconds() - last_left_ > deadline;
  if (!is_done && !is_late) {
    return false;
  }
  has_told_ = true;
  count();
  if (context_.post.tree().number() == 0) {
    context_.post.to_all(protocol::encode(0, protocol::Kind::all_bye, all_.values()));
  } else {
    context_.post.to_above(protocol::encode(0, protocol::Kind::server_bye, all_.values()));
  }
  return true;
}

// The compute ranks of this server have gone, so only other servers can wait for it.
void Goodbyes::leave_alone() {
  const double deadline = context_.policy.deadline_seconds;
  const bool works = !context_.plans.empty() || context_.jobs.are_any();
  if (is_over_ || works || deadline <= 0 || now_seconds() - last_heard_ <= deadline) {
    return;
  }
  if (context_.post.tree().number() == 0) {
    context_.post.to_all(protocol::encode(0, protocol::Kind::all_bye, all_.values()));
  }
  is_alone_ = true;
}

void Goodbyes::server_left(const std::vector<double>& counters) {
  all_.merge(counters);
  ++servers_gone_;
}

void Goodbyes::all_left(const std::vector<double>& counters) {
  for (const auto& [rank, compute_rank] : context_.place.clients) {
    context_.post.to_rank(rank, protocol::encode(0, protocol::Kind::farewell, counters));
  }
  is_over_ = true;
}

void Goodbyes::count() {
  auto& counters = context_.counters;
  if (const Crew* const crew = context_.disk.crew) {
    counters.set(trace::Counter::writer_threads, crew->threads());
    counters.set(trace::Counter::divided_bytes, static_cast<double>(crew->divided_bytes()));
  }
  counters.set(trace::Counter::staging_peak_bytes,
               static_cast<double>(context_.arena.peak_bytes()));
  counters.set(trace::Counter::staging_limit_bytes,
               static_cast<double>(context_.arena.capacity_bytes()));
  counters.set(trace::Counter::serve_seconds, now_seconds() - began_);
  counters.set(trace::Counter::cpu_seconds, cpu_seconds());
  const transport::Tally tally = transport_.tally();
  counters.set(trace::Counter::in_place_bytes, tally.in_place_bytes);
  counters.set(trace::Counter::staged_bytes, tally.staged_bytes);
  counters.set(trace::Counter::pulled_bytes, tally.pulled_bytes);
  counters.set(trace::Counter::message_bytes, tally.message_bytes);
  counters.set(trace::Counter::sleeps, tally.sleeps);
  counters.set(trace::Counter::wake_ups, tally.wake_ups);
  all_.merge(counters.values());
}

bool Actions::advance() {
  if (queue_.empty()) {
    return false;
  }
  if (gate_ == MPI_REQUEST_NULL) {
    mpi::check(MPI_Ibarrier(servers_, &gate_));
  }
  int met = 0;
  mpi::check(MPI_Test(&gate_, &met, MPI_STATUS_IGNORE));
  if (met == 0) {
    return false;
  }
  const auto [file, note] = std::move(queue_.front());
  queue_.pop_front();
  perform_(file, note);
  return true;
}

namespace {

constexpr double longest_patience_seconds = 60;
constexpr double part_of_deadline = 0.1;

}  // namespace

Unheard::Unheard(bool tells, double deadline_seconds)
    : is_over_{!tells},
      patience_seconds_{deadline_seconds > 0 ? std::min(longest_patience_seconds,
                                                        deadline_seconds * part_of_deadline)
                                             : longest_patience_seconds},
      began_{now_seconds()} {}

void Unheard::look() {
  if (is_over_ || now_seconds() - began_ < patience_seconds_) {
    return;
  }
  is_over_ = true;
  std::fprintf(stderr,
               "iocomp: no compute rank has called iocomp in the %.0f s since iocomp_init. If the "
               "program hangs, a library in it uses MPI_COMM_WORLD, where it waits for the servers "
               "too: give it a duplicate of iocomp_comm()\n",
               patience_seconds_);
}

using protocol::Kind;

namespace {

constexpr int messages_per_round = 64;
// The longest sleep if every arrival wakes the server. Only a peer that died without a word is
// found by looking.
constexpr std::chrono::seconds longest_sleep{1};
// The longest sleep while stripes wait for pieces that may not come.
constexpr std::chrono::milliseconds longest_doze{20};
// The bytes that are touched at once. A message waits for that at most, about a millisecond.
constexpr std::size_t touched_at_once = std::size_t{4} << 20;

}  // namespace

Server::Server(const config::Settings& settings, const mpi::WaitPolicy& policy,
               const disk::Options& disk, Place place, transport::Transport& transport)
    : memory_{.arena = staging::Arena{place.staging_bytes}},
      transport_{transport},
      post_{transport,
            place.ranks,
            {place.ranks.size(), place.tree_width, place.number},
            [this] { return was_given_up(); },
            [this](std::uint64_t note) {
              if (node_watch() != nullptr) {
                node_watch()->write_note(note);
              }
            }},
      engine_{disk::start_engine(disk)},
      jobs_{"iocomp-commit", [&transport] { transport.rouse(); }},
      context_{
          .settings = settings,
          .policy = policy,
          .disk = disk,
          .place = std::move(place),
          .arena = memory_.arena,
          .stripes = memory_.stripes,
          .engine = *engine_,
          .jobs = jobs_,
          .post = post_,
          .counters = {},
          .is_given_up = [this] { return node_watch() != nullptr && node_watch()->is_given_up(); },
          .was_given_up = [this] { return was_given_up(); },
          .plans = {},
          .ordered = {}},
      files_{context_, [this](std::uint64_t key,
                              protocol::ActionNote note) { actions_.queue(key, std::move(note)); }},
      intake_{context_, transport, [this](std::uint64_t key) { return files_.writer(key); },
              [this] {
                std::size_t bytes = 0;
                files_.for_each_writer(
                    [&](const ServedFile& file) { bytes += file.writer().kept_bytes(); });
                return bytes;
              }},
      actions_{context_.place.servers,
               [this](std::uint64_t key, const protocol::ActionNote& note) {
                 files_.perform(key, note);
               }},
      goodbyes_{context_, transport},
      unheard_{context_.place.number == 0 && config::prints_start_line(settings),
               policy.deadline_seconds},
      grace_seconds_{settings.seconds("stop.grace")} {
  context_.counters.record_into(context_.place.timeline);
  context_.disk.is_fenced = context_.was_given_up;
  jobs_.go_beside(true);
  if (const Crew* crew = context_.disk.crew; crew != nullptr && crew->domains().size() > 1) {
    const Outcome spread = outcome_of([&] { memory_.arena.spread_over(crew->domains()); });
    if (!spread.ok()) {
      log::warning("staging memory is not spread over the NUMA domains: " + spread.story);
    }
  }
  if (context_.place.core_share > 0) {  // ranks lose nothing
    memory_.touch_until = std::min(static_cast<std::size_t>(settings.bytes("test.touch")),
                                   memory_.arena.capacity_bytes());
  }
}

// Touches pages of the memory that blocks come into, while there is nothing else to do. @return
// true if any were left.
bool Server::touch_ahead() {
  if (memory_.touched >= memory_.touch_until) {
    return false;
  }
  const std::size_t bytes = std::min(touched_at_once, memory_.touch_until - memory_.touched);
  memory_.arena.touch(memory_.touched, bytes);
  memory_.touched += bytes;
  return true;
}

Server::End Server::serve() {
  mpi::Nap nap;
  const auto sleep_for = [this](std::chrono::nanoseconds longest) { sleep(longest); };
  while (!goodbyes_.is_over() || !transport_.is_idle()) {
    if (goodbyes_.is_alone()) {
      return End::alone;
    }
    if (context_.is_given_up()) {
      stop_writing();
      return End::given_up;
    }
    unheard_.look();
    const bool moved = round();
    if (is_terminated() && finish_after_signal(moved)) {
      return End::terminated;
    }
    if (moved) {
      nap.reset();
      context_.policy.begin_call();
    } else if (touch_ahead()) {
      continue;
    } else if (is_woken_for_everything()) {
      const bool looks_again =
          has_stripes_ || is_held_back() || files_.holds_opens() || is_terminated();
      sleep(looks_again ? longest_doze : std::chrono::nanoseconds{longest_sleep});
    } else {
      nap.pause(sleep_for);
    }
  }
  if (node_watch() != nullptr) {
    node_watch()->leave();
  }
  return End::all_left;
}

bool Server::is_terminated() const {
  return context_.place.is_terminated && context_.place.is_terminated();
}

// The signal is for the whole job. If it has ended the compute ranks, the server finishes the steps
// that they have ended. It does not see ranks of other nodes end; there the grace counts from the
// last thing that moved. @return true if nothing more is to be done.
bool Server::finish_after_signal(bool moved) {
  const double now = now_seconds();
  if (moved || last_move_ == 0) {
    last_move_ = now;
    return false;
  }
  const bool can_know = node_watch() != nullptr && !transport_.needs_looks();
  if (can_know ? !node_watch()->compute_ranks_are_gone() : context_.place.clients_outlive_signal) {
    return false;
  }
  if (can_know && !std::exchange(has_finished_, true)) {
    for (const auto& [rank, compute_rank] : context_.place.clients) {
      if (goodbyes_.client_left(rank)) {
        files_.client_left(rank);
      }
    }
    return false;
  }
  return (has_finished_ && goodbyes_.is_over()) || now - last_move_ > grace_seconds_;
}

// Another server has ended, or this one was stopped for so long that it was taken for dead. The
// compute ranks write what is left. They begin when this server says that it does nothing more.
void Server::stop_writing() {
  jobs_.end();
  for (std::size_t plans = context_.plans.size(); plans > 0;) {
    plans -= engine_->take_completed().size();
    engine_->wait(std::chrono::milliseconds{1});
  }
  files_.release();
  node_watch()->leave();
  // They all leave together, because one that ends before the others may keep them in MPI_Finalize.
  while (!node_watch()->compute_ranks_are_gone()) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

bool Server::is_woken_for_everything() const {
  return !transport_.needs_looks() && actions_.is_empty();
}

void Server::sleep(std::chrono::nanoseconds longest) {
  const auto word = transport_.watch();
  if (!word) {
    engine_->wait(longest);
    return;
  }
  // A sender wakes this process from here on. Messages of before are found by one more round.
  if (!round()) {
    engine_->wait(longest, word);
  }
  transport_.unwatch();
}

// For the program a failed file is closed at once. But its writes under way still read this
// server's memory, and its earlier steps are still committed. After its goodbye a server sends
// nothing more.
bool Server::is_done() const {
  return context_.plans.empty() && !jobs_.are_any() && !post_.has_own() && intake_.is_empty() &&
         files_.are_closed();
}

bool Server::round() {
  if (context_.is_given_up()) {
    return true;  // serve() knows what to do
  }
  bool moved = transport_.progress();
  moved = take_messages() || moved;
  moved = take_back() || moved;
  const bool received = intake_.advance();
  moved = received || moved;
  files_.for_each_writer([](ServedFile& file) { file.writer().files().submit(); });
  moved = take_completions() || moved;
  moved = actions_.advance() || moved;
  files_.for_each_writer([&](ServedFile& file) { moved = file.writer().advance() || moved; });
  moved = files_.advance_leads() || moved;
  moved = files_.open_held() || moved;
  // Programs wait for pieces that are not received, and seldom for those that are not written.
  if (!received) {
    files_.for_each_writer([&](ServedFile& file) { moved = file.write_slice() || moved; });
  }
  moved = write_stripes(moved) || moved;
  moved = goodbyes_.advance(is_done()) || moved;
  post_.flush();
  return moved;
}

// Spilled chunks come before what arrives now, as long as there is memory for them.
bool Server::take_back() {
  bool any = false;
  files_.for_each_writer([&](ServedFile& file) { any = file.writer().files().take_back() || any; });
  return any;
}

bool Server::is_held_back() const {
  bool any = false;
  files_.for_each_writer(
      [&](const ServedFile& file) { any = any || file.writer().files().is_held_back(); });
  return any;
}

// Writes stripes that will not become full soon, or whose memory is needed for others.
bool Server::write_stripes(bool moved) {
  has_stripes_ = false;
  bool any = false;
  ServedFile* oldest = nullptr;
  const double now = now_seconds();
  files_.for_each_writer([&](ServedFile& file) {
    if (!file.stripes().has_open()) {
      return;
    }
    any = file.writer().write_late_stripes(now) || any;
    if (file.stripes().has_open()) {
      has_stripes_ = true;
      const bool is_older =
          oldest == nullptr || file.stripes().oldest() < oldest->stripes().oldest();
      oldest = is_older ? &file : oldest;
    }
  });
  // Files that can spill need not wait for what is being written.
  const auto is_needed = [&] {
    return intake_.is_stuck() &&
           (oldest->writer().files().spills() || (context_.plans.empty() && !is_held_back()));
  };
  if (!moved && !any && oldest != nullptr && is_needed()) {
    oldest->write_oldest_stripe();
    any = true;
  }
  return any;
}

bool Server::take_messages() {
  bool any = false;
  for (int i = 0; i < messages_per_round; ++i) {
    auto incoming = post_.take_own();
    if (!incoming) {
      incoming = transport_.poll();
    }
    if (!incoming) {
      break;
    }
    dispatch(std::move(*incoming));
    any = true;
  }
  return any;
}

bool Server::take_completions() {
  const auto disk = engine_->take_completed();
  for (const auto& completion : disk) {
    context_.ended(completion);
  }
  return jobs_.advance() || !disk.empty();
}

void Server::dispatch(transport::Incoming incoming) {
  const auto header = protocol::check_header(incoming.message, incoming.sender);
  unheard_.heard();
  if (header.kind == Kind::piece) {
    intake_.take(incoming.sender,
                 std::move(incoming.message));  // its credit is given when its bytes are here
    return;
  }
  const auto body = protocol::body(incoming.message);
  goodbyes_.heard();
  if (header.kind == Kind::ask) {
    post_.to_rank(incoming.sender, protocol::message(Kind::here, 0, {}));
    transport_.give_credit(incoming.sender);
  } else if (header.kind == Kind::run_list) {
    auto [number, runs] = protocol::decode<protocol::NumberedRuns>(body);
    intake_.know_runs(incoming.sender, number, std::move(runs));
    transport_.give_credit(incoming.sender);
  } else if (header.kind == Kind::forget_run_list) {
    intake_.forget_runs(incoming.sender, protocol::decode<std::uint64_t>(body));
    transport_.give_credit(incoming.sender);
  } else if (header.kind == Kind::bye) {
    files_.client_left(incoming.sender);
    (void)goodbyes_.client_left(incoming.sender);
    transport_.give_credit(incoming.sender);
  } else if (header.kind <= Kind::own_written || header.kind == Kind::give_up ||
             header.kind == Kind::other) {
    files_.from_client(header, incoming.sender, body);
    transport_.give_credit(incoming.sender);
  } else if (header.kind == Kind::server_bye) {
    goodbyes_.server_left(protocol::decode<protocol::Counters>(body));
  } else if (header.kind == Kind::orders) {
    post_.pass_down(body);
  } else if (header.kind == Kind::all_bye) {
    goodbyes_.all_left(protocol::decode<protocol::Counters>(body));
  } else {
    files_.from_server(header, incoming.sender, body);
    files_.forget_finished();
  }
}

}  // namespace iocomp::server
