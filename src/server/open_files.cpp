// SPDX-License-Identifier: BSD-3-Clause
#include "server/open_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "commit/file_terms.h"
#include "commit/lead.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "config/file_settings.h"
#include "config/settings.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
#include "protocol/put_messages.h"
#include "server/home.h"
#include "server/served_file.h"
#include "trace/busy.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::server {

using protocol::Kind;

namespace {

// After this time a held open is tried, and refused if the files are still being written.
constexpr double longest_hold_seconds = 10;

config::FileSettings settings_of(const config::Settings& settings, const protocol::Open& open) {
  return config::file_settings(settings.with_options(open.name, open.options), open.name,
                               open.kind == 2 ? "checkpoint" : "series");
}

const formats::Format& format_of(const config::FileSettings& settings, const std::string& modules) {
  return formats::format(settings.backend, modules, commit::format_options(settings));
}

}  // namespace

void OpenFiles::from_client(const protocol::Header& header, int client,
                            std::span<const std::byte> body) {
  Entry& entry = files_[header.file];
  if (header.kind == Kind::flush) {
    const auto note = protocol::decode<protocol::StepNote>(body);
    if (entry.file) {
      entry.file->hurry(client, note.step, note.number != 0);
    } else {
      entry.early_flushes.emplace_back(client, note);
    }
    return;
  }
  if (header.kind == Kind::own_written) {
    if (entry.file) {
      entry.file->writer().written_elsewhere(protocol::decode<protocol::OwnWritten>(body));
    }
    return;
  }
  to_home(home_of(entry, header.file), header, client, body);
}

void OpenFiles::to_home(HomeFile& home, const protocol::Header& header, int client,
                        std::span<const std::byte> body) {
  switch (header.kind) {
    case Kind::open:
      home.open(client, protocol::decode<protocol::Open>(body));
      tell_who_left(home);
      break;
    case Kind::event:
      home.event(client, protocol::decode<protocol::Event>(body));
      break;
    case Kind::end_step:
      home.end_step(client, protocol::decode<protocol::StepCounts>(body));
      break;
    case Kind::close:
      home.close(client, protocol::decode<protocol::StepCounts>(body));
      break;
    case Kind::give_up:
      home.give_up(protocol::decode<protocol::StepNote>(body));
      break;
    case Kind::other:
      home.other(body);
      break;
    default:
      throw Error{ErrorCode::internal, "a server got a message of kind " +
                                           std::to_string(static_cast<int>(header.kind))};
  }
}

void OpenFiles::client_left(int client) {
  left_.push_back(client);
  for (auto& [key, entry] : files_) {
    if (entry.home) {
      entry.home->left(client);
    }
  }
}

void OpenFiles::tell_who_left(HomeFile& home) {
  for (const int client : left_) {
    home.left(client);
  }
}

void OpenFiles::from_server(const protocol::Header& header, int sender,
                            std::span<const std::byte> body) {
  switch (header.kind) {
    case Kind::home_open:
      (void)files_[header.file];
      [[fallthrough]];
    case Kind::home_event:
    case Kind::want_place:
    case Kind::home_step:
    case Kind::step_done:
    case Kind::put_report:
    case Kind::home_close:
    case Kind::action_done:
    case Kind::home_failed:
    case Kind::home_other:
      // otherwise it is over
      if (const auto found = files_.find(header.file); found != files_.end()) {
        home_of(found->second, header.file)
            .report(header.kind, context_.post.server_of(sender), body);
      }
      break;
    default:
      to_writer(header, body);
  }
}

void OpenFiles::pass_up(protocol::Bytes message) {
  if (context_.post.tree().number() == 0) {
    to_lead(protocol::check_header(message, context_.place.ranks.rank(0)), protocol::body(message));
  } else {
    context_.post.to_above(std::move(message));
  }
}

void OpenFiles::to_lead(const protocol::Header& header, std::span<const std::byte> body) {
  if (header.kind == Kind::home_open) {
    begin_lead(header.file, protocol::decode<protocol::Open>(body));
    return;
  }
  const auto found = files_.find(header.file);
  if (found == files_.end() || !found->second.lead) {
    return;  // the file is over
  }
  found->second.lead->take(header.kind, body);
}

void OpenFiles::begin_lead(std::uint64_t key, const protocol::Open& open) {
  if (refused_.contains(key)) {
    return;
  }
  if (const auto& lead = files_[key].lead) {
    lead->open(open);
  } else if (const auto held = held_.find(key); held != held_.end()) {
    held->second.opens.push_back(open);
  } else if (const auto path = path_of(open); has_failed_file(path)) {
    held_[key] = {path, {open}, now_seconds() + longest_hold_seconds};
  } else {
    begin_new_lead(key, open);
  }
}

std::string OpenFiles::path_of(const protocol::Open& open) const {
  std::string path;
  (void)outcome_of([&] {
    const auto settings = settings_of(context_.settings, open);
    const auto& format = format_of(settings, context_.settings.text("storage.modules"));
    auto identity = commit::identity(open.name, settings, context_.place.job);
    identity.folder = open.beginning.folder;
    path = commit::Publication{std::move(identity), format, nullptr}.absolute_path();
  });
  return path;
}

// For the program a failed file is closed at once. Here it is closed only after all of it has
// settled.
bool OpenFiles::has_failed_file(const std::string& path) const {
  return std::ranges::any_of(files_, [&](const auto& item) {
    const auto& lead = item.second.lead;
    return lead && lead->has_failed() && !lead->is_over() && lead->absolute_path() == path;
  });
}

bool OpenFiles::open_held() {
  bool any = false;
  for (auto next = held_.begin(); next != held_.end();) {
    const auto held = next++;
    const auto& [path, opens, until] = held->second;
    if (has_failed_file(path) && now_seconds() < until) {
      continue;
    }
    const auto ready = held_.extract(held);
    begin_new_lead(ready.key(), opens.front());
    for (std::size_t i = 1; i < opens.size(); ++i) {
      begin_lead(ready.key(), opens[i]);
    }
    any = true;
  }
  return any;
}

void OpenFiles::release() {
  for (auto& [key, entry] : files_) {
    if (entry.lead) {
      entry.lead->release();
    }
  }
}

void OpenFiles::begin_new_lead(std::uint64_t key, const protocol::Open& open) {
  Entry& entry = files_[key];
  try {
    const auto settings = settings_of(context_.settings, open);
    const auto& format = format_of(settings, context_.settings.text("storage.modules"));
    if (settings.when_full == config::WhenFull::spill) {
      (void)context_.spill();  // other servers have the same folder, so whoever opens is told
    }
    entry.lead = make_lead(key, open, settings, format);
    entry.lead->start();
  } catch (const Error& error) {
    context_.post.to_all(
        protocol::encode(key, Kind::opened, protocol::Opened{Outcome{error.code(), error.what()}}));
  }
}

std::unique_ptr<commit::Lead> OpenFiles::make_lead(std::uint64_t key, const protocol::Open& open,
                                                   const config::FileSettings& settings,
                                                   const formats::Format& format) {
  Context& context = context_;
  commit::Lead::Setup setup;
  setup.key = key;
  setup.open = open;
  setup.may_overlap = settings.may_overlap;
  setup.publisher = {
      .identity = context.identity(open.name, settings),
      .format = &format,
      .options = commit::format_options(settings, context.disk),
      .disk = context.disk_options(key),
      .who = ", server 0 (rank " + std::to_string(context.place.ranks.rank(0)) + ')'};
  setup.publisher.identity.after = open.after;
  setup.publisher.identity.folder = open.beginning.folder;
  return std::make_unique<commit::Lead>(
      std::move(setup),
      commit::Lead::Means{
          .council = &context.post,
          .progress = &context.progress,
          .run =
              [&context, record = trace::Recorder{context.counters.timeline(), open.name}](
                  commit::Publication::Job job, commit::Publisher::Then then) {
                const double begin = now_seconds();
                context.busy.begin(trace::Activity::commit, begin);
                context.submit(std::move(job), [&context, record, begin,
                                                then = std::move(then)](const Outcome& outcome) {
                  context.busy.end(trace::Activity::commit, now_seconds());
                  record(trace::What::commit, begin, {});
                  then(outcome);
                });
              },
          .note =
              [&context, key](protocol::Note note, std::int64_t step) {
                context.post.write_note(protocol::word(key, note, step));
              },
          .failed = [&context] { context.counters.add(trace::Counter::failures, 1); }});
}

void OpenFiles::know_file(std::uint64_t key, const protocol::Open& open) {
  const auto settings = settings_of(context_.settings, open);
  const auto& format = format_of(settings, context_.settings.text("storage.modules"));
  Entry& entry = files_[key];
  entry.file = std::make_unique<ServedFile>(context_, key, open, settings, format);
  HomeFile& home = home_of(entry, key);
  home.known(open);
  tell_who_left(home);
  for (const auto& [client, note] : std::exchange(entry.early_flushes, {})) {
    entry.file->hurry(client, note.step, note.number != 0);
  }
}

void OpenFiles::to_writer(const protocol::Header& header, std::span<const std::byte> body) {
  if (header.kind == Kind::known_file) {
    know_file(header.file, protocol::decode<protocol::Open>(body));
    return;
  }
  if (header.kind == Kind::action) {
    order_(header.file, protocol::decode<protocol::ActionNote>(body));
    return;
  }
  Entry& entry = files_[header.file];
  const auto outcome = [&] { return protocol::decode<Outcome>(body); };
  const auto note = [&] { return protocol::decode<protocol::StepNote>(body); };
  if (header.kind == Kind::opened) {
    // Members of this home may open the file later than those of others.
    const auto opened = protocol::decode<protocol::Opened>(body);
    entry.is_closed = !opened.outcome.ok();
    if (entry.is_closed) {
      refused_.insert(header.file);
    }
    home_of(entry, header.file).opened(opened);
    return;
  }
  if (!entry.file) {
    return;
  }
  switch (header.kind) {
    case Kind::known_event:
      entry.file->apply(protocol::decode<protocol::Event>(body));
      break;
    case Kind::placed:
      entry.file->writer().place(note());
      break;
    case Kind::expect:
      entry.file->writer().expect(protocol::decode<protocol::Expectation>(body));
      break;
    case Kind::fill:
      entry.file->writer().fill(protocol::decode<protocol::FillOrder>(body));
      break;
    case Kind::step_settled:
      context_.progress.settled(header.file, note().step, note().outcome);
      entry.file->settle(note().step, note().outcome);
      if (entry.home) {
        entry.home->settled(note().step, note().outcome);
      }
      break;
    case Kind::file_failed:
      context_.progress.lost(header.file, note().step, note().outcome);
      entry.file->writer().fail(note().outcome, note().step);
      if (entry.home) {
        entry.home->failed(note().outcome, note().step);
      }
      break;
    case Kind::file_closed:
      context_.progress.closed(header.file);
      entry.is_closed = true;
      if (entry.home) {
        entry.home->closed(outcome());
      }
      break;
    default:
      throw Error{ErrorCode::internal, "a server got a message of kind " +
                                           std::to_string(static_cast<int>(header.kind))};
  }
}

// Goes on with files that come after one that has moved.
bool OpenFiles::advance_leads() {
  bool any = false;
  for (auto& [key, entry] : files_) {
    any = (entry.lead && entry.lead->advance()) || any;
  }
  return any;
}

void OpenFiles::perform(std::uint64_t key, protocol::ActionNote note) {
  if (ServedFile* const file = writer(key)) {
    note.outcome = outcome_of([&] { file->act(note); });
  }
  context_.post.report(protocol::encode(key, Kind::action_done, note));
}

void OpenFiles::forget_finished() {
  std::erase_if(files_, [](const auto& item) {
    const Entry& entry = item.second;
    // The lead is over after the last message about the file was posted; the home after the last
    // member was answered. A failed file stays: pieces of it may still have to be drained.
    const bool sound = !entry.file || entry.file->writer().lost().ok();
    return sound && entry.home && entry.home->is_over() && (!entry.lead || entry.lead->is_over());
  });
}

bool OpenFiles::are_closed() const {
  return std::ranges::none_of(files_, [](const auto& item) {
    const Entry& entry = item.second;
    return (entry.lead && !entry.lead->is_over()) || (entry.file && !entry.is_closed);
  });
}

ServedFile* OpenFiles::writer(std::uint64_t key) const {
  const auto found = files_.find(key);
  return found == files_.end() ? nullptr : found->second.file.get();
}

void OpenFiles::for_each_writer(const std::function<void(ServedFile&)>& visit) const {
  for (const auto& [key, entry] : files_) {
    if (entry.file) {
      visit(*entry.file);
    }
  }
}

HomeFile& OpenFiles::home_of(Entry& entry, std::uint64_t key) {
  if (!entry.home) {
    entry.home = std::make_unique<HomeFile>(
        context_, key, [this](protocol::Bytes message) { pass_up(std::move(message)); });
  }
  return *entry.home;
}

}  // namespace iocomp::server
