#include "server/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "config/file_settings.h"
#include "formats/registry.h"
#include "mpi/wait.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;

namespace {

constexpr int messages_per_round = 64;
// Where every arrival wakes the server; only a peer that died without a word is found by looking.
constexpr std::chrono::seconds longest_sleep{1};
// While stripes wait for pieces that may not come.
constexpr std::chrono::milliseconds longest_doze{20};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Server::Server(const config::Settings& settings, const mpi::WaitPolicy& policy,
               const disk::Options& disk, Place place, transport::Transport& transport)
    : engine_{disk::start_engine(disk)},
      worker_{[&transport] { transport.rouse(); }},
      arena_{place.staging_bytes},
      post_{transport, place.ranks, place.number},
      context_{.settings = settings,
               .policy = policy,
               .disk = disk,
               .place = std::move(place),
               .arena = arena_,
               .engine = *engine_,
               .worker = worker_,
               .post = post_,
               .counters = {},
               .is_given_up = [&transport] { return transport.is_given_up(); },
               .plans = {},
               .jobs = {},
               .ordered = {}},
      transport_{transport},
      intake_{context_, transport,
              [this](std::uint64_t key) {
                const auto found = files_.find(key);
                return found == files_.end() ? nullptr : found->second.file.get();
              },
              [this] {
                std::size_t bytes = 0;
                for (const auto& [key, entry] : files_) {
                  bytes += entry.file ? entry.file->kept_bytes() : 0;
                }
                return bytes;
              }},
      actions_{context_.place.servers,
               [this](std::uint64_t key, const protocol::ActionNote& note) { perform(key, note); }},
      began_{now_seconds()} {
  const auto share = settings.bytes("staging.touch");
  arena_.touch(std::min(static_cast<std::size_t>(share), arena_.capacity_bytes()));
}

bool Server::serve() {
  mpi::Nap nap{context_.policy};
  const auto sleep_for = [this](std::chrono::nanoseconds longest) { sleep(longest); };
  while (!finished_ || !transport_.is_idle()) {
    if (transport_.is_given_up()) {
      stop_writing();
      return false;
    }
    if (round()) {
      nap.reset();
    } else if (is_woken_for_everything()) {
      sleep(has_stripes_ ? longest_doze : std::chrono::nanoseconds{longest_sleep});
    } else {
      nap.pause(sleep_for);
    }
  }
  transport_.leave();
  return true;
}

// Another server has ended, or this one was stopped for so long that it was taken for one: the
// compute ranks write what is left. They begin when this server says that it does nothing more.
void Server::stop_writing() {
  std::size_t jobs = context_.jobs.size();
  std::size_t plans = context_.plans.size();
  while (jobs > 0 || plans > 0) {
    jobs -= worker_.take_completed().size();
    plans -= engine_->take_completed().size();
    engine_->wait(std::chrono::milliseconds{1});
  }
  transport_.leave();
  // They all leave together: whoever ends before the others may keep them in MPI_Finalize.
  while (!transport_.compute_ranks_are_gone()) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

bool Server::is_woken_for_everything() const {
  return context_.policy.kind == mpi::WaitPolicy::Kind::sleep && !transport_.needs_looks() &&
         actions_.is_empty();
}

void Server::sleep(std::chrono::nanoseconds longest) {
  const auto word = transport_.watch();
  if (!word) {
    engine_->wait(longest);
    return;
  }
  // Who sends from here on wakes this process; what came before is found by one more round.
  if (!round()) {
    engine_->wait(longest, word);
  }
  transport_.unwatch();
}

bool Server::round() {
  if (transport_.is_given_up()) {
    return true;  // serve() knows what to do
  }
  bool moved = transport_.progress();
  moved = take_messages() || moved;
  const bool received = intake_.advance();
  moved = received || moved;
  for (auto& [key, entry] : files_) {
    if (entry.file) {
      entry.file->submit_gathered();
    }
  }
  moved = take_completions() || moved;
  moved = actions_.advance() || moved;
  // Programs wait for what is not received, seldom for what is not written.
  for (auto& [key, entry] : files_) {
    moved = (!received && entry.file && entry.file->write_slice()) || moved;
  }
  moved = write_stripes(moved) || moved;
  post_.flush();
  return moved;
}

// Stripes that will not become full soon, or whose memory is needed for others.
bool Server::write_stripes(bool moved) {
  has_stripes_ = false;
  bool any = false;
  File* oldest = nullptr;
  const double now = now_seconds();
  for (auto& [key, entry] : files_) {
    if (!entry.file || !entry.file->has_stripes()) {
      continue;
    }
    any = entry.file->write_late_stripes(now) || any;
    if (entry.file->has_stripes()) {
      has_stripes_ = true;
      const bool is_older =
          oldest == nullptr || entry.file->oldest_stripe() < oldest->oldest_stripe();
      oldest = is_older ? entry.file.get() : oldest;
    }
  }
  if (!moved && !any && oldest != nullptr && intake_.is_stuck() && context_.plans.empty()) {
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
  const auto jobs = worker_.take_completed();
  for (const auto& [id, outcome] : jobs) {
    const auto node = context_.jobs.extract(id);
    node.mapped()(outcome);
  }
  return !disk.empty() || !jobs.empty();
}

void Server::say_bye() {
  auto& counters = context_.counters;
  counters.set(trace::Counter::staging_peak_bytes, static_cast<double>(arena_.peak_bytes()));
  counters.set(trace::Counter::staging_limit_bytes, static_cast<double>(arena_.capacity_bytes()));
  counters.set(trace::Counter::serve_seconds, now_seconds() - began_);
  counters.set(trace::Counter::cpu_seconds, cpu_seconds());
  const transport::Tally tally = transport_.tally();
  counters.set(trace::Counter::in_place_bytes, tally.in_place_bytes);
  counters.set(trace::Counter::staged_bytes, tally.staged_bytes);
  counters.set(trace::Counter::pulled_bytes, tally.pulled_bytes);
  counters.set(trace::Counter::message_bytes, tally.message_bytes);
  counters.set(trace::Counter::sleeps, tally.sleeps);
  counters.set(trace::Counter::wake_ups, tally.wake_ups);
  post_.to_server(0, protocol::encode(Kind::server_bye, counters.values()));
}

void Server::forget_finished() {
  std::erase_if(files_, [](const auto& item) {
    const Entry& entry = item.second;
    // The lead is over after the last message about the file was posted; the home after the last
    // member was answered. A failed file stays: pieces of it may still have to be drained.
    const bool sound = !entry.file || entry.file->failure().ok();
    return sound && entry.home && entry.home->is_over() && (!entry.lead || entry.lead->is_over());
  });
}

}  // namespace iocomp::server
