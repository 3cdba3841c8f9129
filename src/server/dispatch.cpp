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
#include "formats/registry.h"
#include "mpi/wait.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/server.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;

namespace {

const formats::Format& format_of(const config::FileSettings& settings, const std::string& modules) {
  return formats::format(settings.backend, modules).chosen(format_options(settings));
}

}  // namespace

void Server::dispatch(transport::Incoming incoming) {
  const auto header = protocol::check_header(incoming.message, incoming.sender);
  if (header.kind == Kind::piece) {
    intake_.take(incoming.sender,
                 std::move(incoming.message));  // its credit is given when its bytes are here
    return;
  }
  const auto body = protocol::body(incoming.message);
  if (header.kind == Kind::run_list) {
    auto [number, runs] = protocol::decode_run_list(body);
    intake_.know_runs(incoming.sender, number, std::move(runs));
    transport_.give_credit(incoming.sender);
  } else if (header.kind == Kind::forget_run_list) {
    intake_.forget_runs(incoming.sender, protocol::decode_forget_run_list(body));
    transport_.give_credit(incoming.sender);
  } else if (header.kind <= Kind::own_written) {
    from_client(header, incoming.sender, body);
    transport_.give_credit(incoming.sender);
  } else {
    from_server(header, body);
  }
}

void Server::from_client(const protocol::Header& header, int client,
                         std::span<const std::byte> body) {
  if (header.kind == Kind::bye) {
    ++clients_gone_;
    if (clients_gone_ == context_.place.clients.size()) {
      say_bye();
    }
    return;
  }
  Entry& entry = files_[header.file];
  if (header.kind == Kind::flush) {
    const auto note = protocol::decode_step_note(body);
    if (entry.file) {
      entry.file->hurry(client, note.step, note.number != 0);
    } else {
      entry.early_flushes.emplace_back(client, note);
    }
    return;
  }
  if (header.kind == Kind::own_written) {
    if (entry.file) {
      entry.file->written_by_client(protocol::decode_own_written(body));
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
      throw Error{ErrorCode::internal, "a server got a message of kind " +
                                           std::to_string(static_cast<int>(header.kind))};
  }
}

void Server::from_server(const protocol::Header& header, std::span<const std::byte> body) {
  switch (header.kind) {
    case Kind::server_bye:
      all_.merge(protocol::decode_counters(body));
      if (++servers_gone_ == context_.place.ranks.size()) {
        post_.to_all_servers(protocol::encode(Kind::all_bye, all_.values()));
      }
      break;
    case Kind::all_bye:
      for (const auto& [rank, compute_rank] : context_.place.clients) {
        post_.to_rank(rank, protocol::encode(Kind::farewell, protocol::decode_counters(body)));
      }
      finished_ = true;
      break;
    case Kind::home_open:
    case Kind::home_event:
    case Kind::want_place:
    case Kind::home_step:
    case Kind::step_done:
    case Kind::put_report:
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
    case Kind::put_report:
      lead.put_report(protocol::decode_put_report(body));
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
    const auto settings = config::file_settings(context_.settings, open.name,
                                                open.kind == 2 ? "checkpoint" : "series");
    const auto& format = format_of(settings, context_.settings.text("storage.modules"));
    entry.lead = std::make_unique<LeadFile>(context_, key, open, settings, format);
    entry.lead->start();
  } catch (const Error& error) {
    post_.to_all_servers(
        protocol::encode(key, protocol::Opened{Outcome{error.code(), error.what()}}));
  }
}

void Server::know_file(std::uint64_t key, const protocol::Open& open) {
  const auto settings =
      config::file_settings(context_.settings, open.name, open.kind == 2 ? "checkpoint" : "series");
  const auto& format = format_of(settings, context_.settings.text("storage.modules"));
  Entry& entry = files_[key];
  entry.file = std::make_unique<File>(context_, key, open, settings, format);
  for (const auto& [client, note] : std::exchange(entry.early_flushes, {})) {
    entry.file->hurry(client, note.step, note.number != 0);
  }
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
    if (!entry.home) {  // members of this home may come to open it later than those of others
      entry.home = std::make_unique<HomeFile>(context_, header.file);
    }
    entry.home->opened(protocol::decode_opened(body));
    return;
  }
  if (header.kind == Kind::file_failed && context_.place.number == 0 && entry.lead &&
      !entry.lead->has_failed()) {
    entry.lead->fail(note().outcome, note().step);  // from a home; the lead tells all
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
      entry.file->expect(protocol::decode_expectation(body));
      break;
    case Kind::fill:
      entry.file->fill(protocol::decode_fill_order(body));
      break;
    case Kind::step_settled:
      entry.file->settle(note().step, note().outcome);
      if (entry.home) {
        entry.home->settled(note().step, note().outcome);
      }
      break;
    case Kind::file_failed:
      entry.file->fail(note().outcome, note().step);
      if (entry.home) {
        entry.home->failed(note().outcome, note().step);
      }
      break;
    case Kind::file_closed:
      if (entry.home) {
        entry.home->closed(outcome());
      }
      break;
    default:
      throw Error{ErrorCode::internal, "a server got a message of kind " +
                                           std::to_string(static_cast<int>(header.kind))};
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

}  // namespace iocomp::server
