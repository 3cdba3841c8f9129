// SPDX-License-Identifier: BSD-3-Clause
#include "server/goodbyes.h"

#include <sys/resource.h>

#include <iterator>
#include <vector>

#include "base/clock.h"
#include "base/crew.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "trace/counters.h"
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
    context_.post.to_all(protocol::encode(protocol::Kind::all_bye, all_.values()));
  } else {
    context_.post.to_above(protocol::encode(protocol::Kind::server_bye, all_.values()));
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
    context_.post.to_all(protocol::encode(protocol::Kind::all_bye, all_.values()));
  }
  is_alone_ = true;
}

void Goodbyes::server_left(const std::vector<double>& counters) {
  all_.merge(counters);
  ++servers_gone_;
}

void Goodbyes::all_left(const std::vector<double>& counters) {
  for (const auto& [rank, compute_rank] : context_.place.clients) {
    context_.post.to_rank(rank, protocol::encode(protocol::Kind::farewell, counters));
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

}  // namespace iocomp::server
