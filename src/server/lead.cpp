#include "server/lead.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "formats/file_system.h"
#include "formats/format.h"
#include "formats/lustre_layout.h"
#include "formats/place.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
#include "server/context.h"
#include "server/file.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;

LeadFile::LeadFile(Context& context, std::uint64_t key, const protocol::Open& open,
                   config::FileSettings settings, const formats::Format& format)
    : context_{context},
      key_{key},
      open_{open},
      settings_{std::move(settings)},
      format_{format},
      options_{format_options(settings_)},
      publication_{identity(open_.name, settings_, context.place.job), format},
      catalogue_{format, settings_.alignment_bytes, !settings_.file_per_step} {
  open_.domain_bytes =
      formats::domain_bytes_at(publication_.names(0).target, settings_.alignment_bytes);
}

void LeadFile::start() {
  const auto opened = [this](const Outcome& outcome) {
    if (!outcome.ok() && failure_.ok()) {
      failure_ = outcome;
    }
    if (outcome.ok()) {
      context_.post.write_note(protocol::word(key_, protocol::Note::opened));
    }
    context_.post.to_all_servers(
        protocol::encode(key_, protocol::Opened{outcome, open_.domain_bytes}));
  };
  const Outcome prepared = outcome_of([this] { publication_.prepare(0); });
  if (!prepared.ok()) {
    opened(prepared);
    over_ = true;
    return;
  }
  const auto known = protocol::encode(key_, Kind::known_file, open_);
  if (settings_.file_per_step) {
    context_.post.to_all_servers(known);
    opened({});
  } else if (is_plain()) {
    // Created before others hear of it, because they open it at once.
    with_target(-1, [&](const Outcome& outcome) {
      if (outcome.ok()) {
        context_.post.to_all_servers(known);
      }
      opened(outcome);
    });
  } else {
    context_.post.to_all_servers(known);
    with_target(-1, opened);
  }
}

void LeadFile::open(const protocol::Open& open) {
  if (open.kind != open_.kind || open.members != open_.members || open.name != open_.name) {
    fail({ErrorCode::inconsistent_calls,
          "file \"" + open_.name +
              "\": the ranks do not make the same calls in the same "
              "order: compute rank " +
              std::to_string(open.opener) +
              " opened it as another kind of file than compute rank " +
              std::to_string(open_.opener)});
  }
}

void LeadFile::event(const protocol::Event& event) {
  const auto sequence = static_cast<std::size_t>(event.sequence);
  if (sequence < events_.size()) {
    const auto& [caller, what] = events_[sequence];
    if (what != event.what) {
      fail({ErrorCode::inconsistent_calls,
            "file \"" + open_.name +
                "\": the ranks do not make the same calls in the same order: compute rank " +
                std::to_string(event.caller) + " called " +
                contents::text(contents::decode_event(event.what)) + " where compute rank " +
                std::to_string(caller) + " called " +
                contents::text(contents::decode_event(what))});
    }
    return;
  }
  const Outcome applied = outcome_of([&] { catalogue_.apply(contents::decode_event(event.what)); });
  if (!applied.ok()) {
    fail(applied);
    return;
  }
  events_.emplace_back(event.caller, event.what);
  context_.post.to_all_servers(protocol::encode(key_, Kind::known_event, event));
}

void LeadFile::with_target(std::int64_t number, Then then) {
  Target& target = targets_[number];
  if (target.started) {
    then(target.failure);
    return;
  }
  target.waiting.push_back(std::move(then));
  if (std::exchange(target.asked, true)) {
    return;
  }
  const Outcome outcome = outcome_of([&] {
    if (number >= 0) {
      publication_.prepare(number);
    }
    if (format_.folder_mark().empty()) {
      formats::lay_out(publication_.names(number).temporary);
    }
    if (is_plain() && !format_.offsets_by_layout()) {
      target.format = format_.create(publication_.names(number).temporary, options_, MPI_COMM_SELF);
    }
  });
  if (is_plain() || !outcome.ok()) {
    target_started(number, outcome);
  } else {
    act(protocol::Action::create, number, -1,
        [this, number](const Outcome& done) { target_started(number, done); });
  }
}

void LeadFile::target_started(std::int64_t number, const Outcome& outcome) {
  Target& target = targets_[number];
  target.failure = outcome;
  if (outcome.ok() && !format_.writes_whole_steps()) {
    target.failure = outcome_of([&] {
      target.file =
          std::make_shared<disk::OutputFile>(publication_.names(number).temporary, context_.disk);
    });
  }
  target.started = true;
  const Outcome told = in_file(target.failure, number);
  for (const auto& then : std::exchange(target.waiting, {})) {
    then(told);
  }
}

Outcome LeadFile::in_file(const Outcome& outcome, std::int64_t step) const {
  if (outcome.ok()) {
    return outcome;
  }
  const std::string where = step >= 0 ? ", step " + std::to_string(step) : "";
  return {outcome.code, "file \"" + open_.name + '"' + where + ", server 0 (rank " +
                            std::to_string(context_.place.ranks.rank(0)) + "): " + outcome.story};
}

void LeadFile::act(protocol::Action action, std::int64_t step, int variable, Then then) {
  protocol::ActionNote note;
  note.action = action;
  note.number = next_action_++;
  note.step = step;
  note.variable = variable;
  note.settled = next_commit_;
  actions_[note.number].then = std::move(then);
  context_.post.to_all_servers(protocol::encode(key_, Kind::action, note));
}

void LeadFile::action_done(const protocol::ActionNote& note) {
  Action& action = actions_.at(note.number);
  if (!note.outcome.ok() && action.outcome.ok()) {
    action.outcome = note.outcome;
  }
  if (++action.servers == context_.place.ranks.size()) {
    const Action done = std::move(action);
    actions_.erase(note.number);
    done.then(done.outcome);
  }
}

void LeadFile::want_place(const protocol::StepNote& note) { place(note.step, note.variable); }

void LeadFile::place(std::int64_t step, int variable) {
  if (!asked_.insert({step, variable}).second) {
    return;  // told to all already, or about to be
  }
  if (!failure_.ok()) {
    placed(step, variable, -1, failure_);  // the target may be closed by now
    return;
  }
  const std::int64_t number = publication_.target_of(step);
  with_target(number, [=, this](const Outcome& outcome) {
    if (!failure_.ok()) {
      placed(step, variable, -1, failure_);
    } else if (!outcome.ok() || format_.offsets_by_layout() || format_.writes_whole_steps()) {
      placed(step, variable, -1, outcome);
    } else if (is_plain()) {
      std::int64_t offset = -1;
      const Outcome made = outcome_of(
          [&] { offset = formats::place(*targets_[number].format, catalogue_, variable, step); });
      placed(step, variable, offset, in_file(made, step));
    } else {
      act(protocol::Action::place, step, variable,
          [=, this](const Outcome& made) { placed(step, variable, -1, in_file(made, step)); });
    }
  });
}

void LeadFile::placed(std::int64_t step, int variable, std::int64_t offset,
                      const Outcome& outcome) {
  offsets_[{step, variable}] = offset;
  context_.post.to_all_servers(
      protocol::encode(key_, Kind::placed, protocol::StepNote{step, variable, offset, outcome}));
}

void LeadFile::fail(const Outcome& outcome) {
  if (!failure_.ok()) {
    return;
  }
  failure_ = outcome;
  context_.counters.add(trace::Counter::failures, 1);
  context_.post.to_all_servers(protocol::encode(key_, Kind::file_failed, outcome));
  advance();
}

}  // namespace iocomp::server
