#include "server/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "config/file_settings.h"
#include "mpi/wait.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "storage/registry.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;

namespace {

constexpr int messages_per_round = 64;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Server::Server(const config::Settings& settings, const mpi::WaitPolicy& policy, const disk::Options& disk, Place place,
               transport::Transport& transport)
    : engine_{disk},
      arena_{place.staging_bytes},
      post_{transport, place.server_ranks, place.number},
      context_{settings, policy, disk, std::move(place), arena_, engine_, worker_, post_, {}, 1, {}, {}},
      transport_{transport},
      intake_{context_, transport,
              [this](std::uint64_t key) {
                const auto found = files_.find(key);
                return found == files_.end() ? nullptr : found->second.file.get();
              }},
      actions_{context_.place.servers,
               [this](std::uint64_t key, const protocol::ActionNote& note) { perform(key, note); }},
      began_{now_seconds()} {
  const auto& home = context_.place.home;
  clients_ = static_cast<int>(std::count(home.begin(), home.end(), context_.place.number));
  const auto share = settings.bytes("staging.touch");
  arena_.touch(std::min(static_cast<std::size_t>(share), arena_.capacity_bytes()));
}

void Server::serve() {
  mpi::Nap nap{context_.policy};
  const auto sleep_for = [this](std::chrono::nanoseconds longest) { engine_.wait_for_completion(longest); };
  while (!finished_ || !transport_.is_idle()) {
    if (round()) {
      nap.reset();
    } else {
      nap.pause(sleep_for);
    }
  }
}

bool Server::round() {
  bool moved = transport_.progress();
  moved = take_messages() || moved;
  moved = intake_.advance() || moved;
  moved = take_completions() || moved;
  moved = actions_.advance() || moved;
  for (auto& [key, entry] : files_) {
    moved = (entry.file && entry.file->write_slice()) || moved;
  }
  post_.flush();
  return moved;
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
    dispatch(*incoming);
    any = true;
  }
  return any;
}

bool Server::take_completions() {
  const auto disk = engine_.take_completed();
  for (const auto& completion : disk) {
    const auto node = context_.plans.extract(completion.id);
    node.mapped()(completion);
  }
  const auto jobs = worker_.take_completed();
  for (const auto& [id, outcome] : jobs) {
    const auto node = context_.jobs.extract(id);
    node.mapped()(outcome);
  }
  return !disk.empty() || !jobs.empty();
}

void Server::dispatch(const transport::Incoming& incoming) {
  const auto header = protocol::check_header(incoming.message, incoming.sender);
  if (header.kind == Kind::piece) {
    intake_.take(incoming.sender, incoming.message);  // its credit is given when its bytes are here
    return;
  }
  const auto body = protocol::body(incoming.message);
  if (header.kind <= Kind::bye) {
    from_client(header, incoming.sender, body);
    transport_.give_credit(incoming.sender);
  } else {
    from_server(header, body);
  }
}

void Server::from_client(const protocol::Header& header, int client, std::span<const std::byte> body) {
  if (header.kind == Kind::bye) {
    ++clients_gone_;
    if (clients_gone_ == clients_) {
      say_bye();
    }
    return;
  }
  Entry& entry = files_[header.file];
  if (header.kind == Kind::flush) {
    if (entry.file) {
      entry.file->make_durable(client);
    }
    return;
  }
  if (!entry.home) {
    entry.home = std::make_unique<HomeFile>(context_, header.file);
  }
  HomeFile& home = *entry.home;
  switch (header.kind) {
    case Kind::open:
      home.open(client, protocol::decode_open(body));
      break;
    case Kind::event:
      home.event(client, protocol::decode_event(body));
      break;
    case Kind::end_step:
      home.end_step(client, protocol::decode_step_counts(body));
      break;
    case Kind::close:
      home.close(client, protocol::decode_step_counts(body));
      break;
    default:
      throw Error{ErrorCode::internal,
                  "a server got a message of kind " + std::to_string(static_cast<int>(header.kind))};
  }
}

void Server::from_server(const protocol::Header& header, std::span<const std::byte> body) {
  switch (header.kind) {
    case Kind::server_bye:
      all_.merge(protocol::decode_counters(body));
      if (++servers_gone_ == static_cast<int>(context_.place.server_ranks.size())) {
        post_.to_all_servers(protocol::encode(Kind::all_bye, all_.values()));
      }
      break;
    case Kind::all_bye:
      for (std::size_t rank = 0; rank < context_.place.home.size(); ++rank) {
        if (context_.place.home[rank] == context_.place.number) {
          post_.to_rank(context_.place.compute_ranks[rank], protocol::encode(Kind::farewell, protocol::decode_counters(body)));
        }
      }
      finished_ = true;
      break;
    case Kind::home_open:
    case Kind::home_event:
    case Kind::want_place:
    case Kind::home_step:
    case Kind::step_done:
    case Kind::home_close:
    case Kind::action_done:
      to_lead(header, body);
      break;
    default:
      to_file(header, body);
  }
  forget_finished();
}

void Server::to_lead(const protocol::Header& header, std::span<const std::byte> body) {
  if (header.kind == Kind::home_open) {
    begin_lead(header.file, protocol::decode_open(body));
    return;
  }
  const auto found = files_.find(header.file);
  if (found == files_.end() || !found->second.lead) {
    return;  // of a file that is over
  }
  LeadFile& lead = *found->second.lead;
  switch (header.kind) {
    case Kind::home_event:
      lead.event(protocol::decode_event(body));
      break;
    case Kind::want_place:
      lead.want_place(protocol::decode_step_note(body));
      break;
    case Kind::home_step:
      lead.home_step(protocol::decode_step_counts(body));
      break;
    case Kind::step_done:
      lead.step_done(protocol::decode_step_note(body));
      break;
    case Kind::home_close:
      lead.home_close(protocol::decode_step_counts(body));
      break;
    default:
      lead.action_done(protocol::decode_action(body));
  }
}

void Server::begin_lead(std::uint64_t key, const protocol::Open& open) {
  Entry& entry = files_[key];
  if (entry.lead) {
    entry.lead->open(open);
    return;
  }
  try {
    const auto settings = config::file_settings(context_.settings, open.name, open.kind == 2 ? "checkpoint" : "series");
    const auto& format = storage::format(settings.backend, context_.settings.text("storage.modules"));
    entry.lead = std::make_unique<LeadFile>(context_, key, open, settings, format);
    entry.lead->start();
  } catch (const Error& error) {
    post_.to_all_servers(protocol::encode(key, Kind::opened, Outcome{error.code(), error.what()}));
  }
}

void Server::know_file(std::uint64_t key, const protocol::Open& open) {
  const auto settings = config::file_settings(context_.settings, open.name, open.kind == 2 ? "checkpoint" : "series");
  const auto& format = storage::format(settings.backend, context_.settings.text("storage.modules"));
  files_[key].file = std::make_unique<File>(context_, key, open.name, settings, format);
}

void Server::to_file(const protocol::Header& header, std::span<const std::byte> body) {
  if (header.kind == Kind::known_file) {
    know_file(header.file, protocol::decode_open(body));
    return;
  }
  if (header.kind == Kind::action) {
    actions_.queue(header.file, protocol::decode_action(body));
    return;
  }
  Entry& entry = files_[header.file];
  const auto outcome = [&] { return protocol::decode_outcome(body); };
  const auto note = [&] { return protocol::decode_step_note(body); };
  if (header.kind == Kind::opened) {
    if (entry.home) {
      entry.home->opened(outcome());
    }
    return;
  }
  if (header.kind == Kind::file_failed && context_.place.number == 0 && entry.lead && !entry.lead->has_failed()) {
    entry.lead->fail(outcome());  // from a home; the lead tells all
    return;
  }
  if (!entry.file) {
    return;
  }
  switch (header.kind) {
    case Kind::known_event:
      entry.file->apply(protocol::decode_event(body));
      break;
    case Kind::placed:
      entry.file->place(note());
      break;
    case Kind::expect:
      entry.file->expect(note().step, note().number);
      break;
    case Kind::step_settled:
      entry.file->settle(note().step, note().outcome);
      if (entry.home) {
        entry.home->settled(note().step, note().outcome);
      }
      break;
    case Kind::file_failed:
      entry.file->fail(outcome());
      if (entry.home) {
        entry.home->failed(outcome());
      }
      break;
    case Kind::file_closed:
      if (entry.home) {
        entry.home->closed(outcome());
      }
      break;
    default:
      throw Error{ErrorCode::internal,
                  "a server got a message of kind " + std::to_string(static_cast<int>(header.kind))};
  }
}

void Server::perform(std::uint64_t key, protocol::ActionNote note) {
  const auto found = files_.find(key);
  if (found != files_.end() && found->second.file) {
    File& file = *found->second.file;
    note.outcome = outcome_of([&] { file.act(note); });
  }
  post_.to_server(0, protocol::encode(key, Kind::action_done, note));
}

void Server::say_bye() {
  auto& counters = context_.counters;
  counters.set(trace::Counter::staging_peak_bytes, static_cast<double>(arena_.peak_bytes()));
  counters.set(trace::Counter::staging_limit_bytes, static_cast<double>(arena_.capacity_bytes()));
  counters.set(trace::Counter::serve_seconds, now_seconds() - began_);
  counters.set(trace::Counter::cpu_seconds, cpu_seconds());
  post_.to_server(0, protocol::encode(Kind::server_bye, counters.values()));
}

void Server::forget_finished() {
  std::erase_if(files_, [](const auto& item) {
    const Entry& entry = item.second;
    // The lead is over after the last message about the file was posted; the home after the last member was answered.
    // A failed file stays: pieces of it may still have to be drained.
    const bool sound = !entry.file || entry.file->failure().ok();
    return sound && entry.home && entry.home->is_over() && (!entry.lead || entry.lead->is_over());
  });
}

}  // namespace iocomp::server
