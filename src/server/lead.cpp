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
#include "config/file_settings.h"
#include "disk/output_file.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/file.h"
#include "storage/catalogue.h"
#include "storage/format.h"
#include "storage/publication.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;

LeadFile::LeadFile(Context& context, std::uint64_t key, const protocol::Open& open, config::FileSettings settings,
                   const storage::Format& format)
    : context_{context},
      key_{key},
      open_{open},
      settings_{std::move(settings)},
      format_{format},
      options_{format_options(settings_)},
      publication_{identity(open_.name, settings_, context.place.job), format},
      catalogue_{format, settings_.alignment_bytes, !settings_.file_per_step} {}

void LeadFile::start() {
  const auto opened = [this](const Outcome& outcome) {
    if (!outcome.ok() && failure_.ok()) {
      failure_ = outcome;
    }
    context_.post.to_all_servers(protocol::encode(key_, Kind::opened, outcome));
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
    fail({ErrorCode::inconsistent_calls, "file \"" + open_.name + "\": the ranks do not make the same calls in the same "
                                         "order: compute rank " + std::to_string(open.opener) +
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
            "file \"" + open_.name + "\": the ranks do not make the same calls in the same order: compute rank " +
                std::to_string(event.caller) + " called " + storage::text(storage::decode_event(event.what)) +
                " where compute rank " + std::to_string(caller) + " called " +
                storage::text(storage::decode_event(what))});
    }
    return;
  }
  const Outcome applied = outcome_of([&] { catalogue_.apply(storage::decode_event(event.what)); });
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
    if (is_plain() && !format_.offsets_by_layout()) {
      target.format = format_.create(publication_.names(number).temporary, options_, MPI_COMM_SELF);
    }
  });
  if (is_plain() || !outcome.ok()) {
    target_started(number, outcome);
  } else {
    act(protocol::Action::create, number, -1, [this, number](const Outcome& done) { target_started(number, done); });
  }
}

void LeadFile::target_started(std::int64_t number, const Outcome& outcome) {
  Target& target = targets_[number];
  target.failure = outcome;
  if (outcome.ok()) {
    target.failure = outcome_of([&] {
      target.file = std::make_shared<disk::OutputFile>(publication_.names(number).temporary, context_.disk);
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
                            std::to_string(context_.place.server_ranks.front()) + "): " + outcome.story};
}

void LeadFile::act(protocol::Action action, std::int64_t step, int variable, Then then) {
  protocol::ActionNote note;
  note.action = action;
  note.number = next_action_++;
  note.step = step;
  note.variable = variable;
  actions_[note.number].then = std::move(then);
  context_.post.to_all_servers(protocol::encode(key_, Kind::action, note));
}

void LeadFile::action_done(const protocol::ActionNote& note) {
  Action& action = actions_.at(note.number);
  if (!note.outcome.ok() && action.outcome.ok()) {
    action.outcome = note.outcome;
  }
  if (++action.servers == static_cast<int>(context_.place.server_ranks.size())) {
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
  const std::int64_t number = publication_.target_of(step);
  with_target(number, [=, this](const Outcome& outcome) {
    if (!outcome.ok() || format_.offsets_by_layout()) {
      placed(step, variable, -1, outcome);
    } else if (is_plain()) {
      std::int64_t offset = -1;
      const Outcome made = outcome_of(
          [&] { offset = targets_[number].format->place(catalogue_.variable(variable, step), step); });
      placed(step, variable, offset, in_file(made, step));
    } else {
      act(protocol::Action::place, step, variable,
          [=, this](const Outcome& made) { placed(step, variable, -1, in_file(made, step)); });
    }
  });
}

void LeadFile::placed(std::int64_t step, int variable, std::int64_t offset, const Outcome& outcome) {
  offsets_[{step, variable}] = offset;
  context_.post.to_all_servers(
      protocol::encode(key_, Kind::placed, protocol::StepNote{step, variable, offset, outcome}));
}

void LeadFile::home_step(const protocol::StepCounts& counts) {
  Step& step = steps_[counts.step];
  if (step.homes > 0 && counts.events != step.sum.events) {
    fail({ErrorCode::inconsistent_calls, "file \"" + open_.name + "\": some compute ranks ended step " +
                                             std::to_string(counts.step) + " after " + std::to_string(counts.events) +
                                             " definitions, others after " + std::to_string(step.sum.events)});
  }
  step.sum.step = counts.step;
  protocol::add(step.sum, counts);
  if (++step.homes == open_.homes) {
    announce(counts.step);
  }
}

void LeadFile::announce(std::int64_t step) {
  std::vector<std::int64_t> expected(context_.place.server_ranks.size(), 0);
  for (const auto& [server, pieces] : steps_[step].sum.pieces) {
    expected[static_cast<std::size_t>(server)] += pieces;
  }
  for (std::size_t server = 0; server < expected.size(); ++server) {
    context_.post.to_server(static_cast<int>(server),
                            protocol::encode(key_, Kind::expect, protocol::StepNote{step, -1, expected[server], {}}));
  }
}

void LeadFile::step_done(const protocol::StepNote& note) {
  Step& step = steps_[note.step];
  if (!note.outcome.ok() && step.failure.ok()) {
    step.failure = note.outcome;
  }
  if (++step.servers_done == static_cast<int>(context_.place.server_ranks.size())) {
    step.complete = true;
    advance();
  }
}

void LeadFile::advance() {
  if (committing_ || over_) {
    return;
  }
  auto next = steps_.find(next_commit_);
  if (next != steps_.end() && next->second.complete) {
    const Outcome failure = failure_.ok() ? next->second.failure : failure_;
    if (!failure.ok()) {
      drop(next_commit_, failure);
      return;
    }
    std::int64_t last = next_commit_;
    if (!settings_.file_per_step && format_.readable_while_open()) {
      // Steps that became complete during the last commit share the next one.
      while ((next = steps_.find(last + 1)) != steps_.end() && next->second.complete && next->second.failure.ok()) {
        ++last;
      }
    }
    commit(next_commit_, last);
    return;
  }
  if (closing_ && (next_commit_ == steps_ended_ || !failure_.ok())) {
    close();
  }
}

void LeadFile::commit(std::int64_t first, std::int64_t last) {
  committing_ = true;
  for (std::int64_t step = first; step <= last; ++step) {
    for (const int variable : steps_[step].sum.variables) {
      const auto told = offsets_.find({step, variable});
      const std::int64_t offset = format_.offsets_by_layout() ? catalogue_.layout().offset(variable, step)
                                  : told != offsets_.end()    ? told->second
                                                              : -1;
      contents_.add(step, variable, offset);
    }
  }
  const auto settled = [=, this](const Outcome& outcome) {
    committing_ = false;
    if (!outcome.ok()) {
      for (std::int64_t step = first; step <= last; ++step) {
        steps_[step].failure = in_file(outcome, step);
      }
      advance();
      return;
    }
    committed_ += last - first + 1;
    for (std::int64_t step = first; step <= last; ++step) {
      settle(step, {});
    }
    advance();
  };
  with_target(publication_.target_of(last), [=, this](const Outcome& started) {
    if (!started.ok()) {
      settled(started);
      return;
    }
    prepare_commit(last, [=, this](const Outcome& prepared) {
      if (!prepared.ok()) {
        settled(prepared);
        return;
      }
      const std::int64_t bytes = catalogue_.layout().end(last);
      seal(last, publication_.commit_step(last, bytes, contents_, catalogue_), settled);
    });
  });
}

void LeadFile::prepare_commit(std::int64_t step, const Then& then) {
  const std::int64_t number = publication_.target_of(step);
  const bool ends = settings_.file_per_step;
  if (!ends && format_.readable_while_open()) {
    then({});
  } else if (!is_plain()) {
    act(ends ? protocol::Action::finish : protocol::Action::flush, number, -1, then);
  } else {
    then(outcome_of([&] {
      if (auto& format = targets_[number].format; format && ends) {
        format->finish(contents_.describe(catalogue_, step, step));
      } else if (format) {
        format->flush();
      }
    }));
  }
}

void LeadFile::seal(std::int64_t last, storage::Publication::Job job, Then then) {
  const auto file = targets_[publication_.target_of(last)].file;
  const std::int64_t bytes = format_.offsets_by_layout() && last >= 0 ? catalogue_.layout().end(last) : 0;
  const double begin = now_seconds();
  context_.submit(
      [file, bytes, job = std::move(job)] {
        file->grow(bytes);
        file->sync();
        job();
      },
      [this, begin, then = std::move(then)](const Outcome& outcome) {
        context_.counters.add(trace::Counter::commit_seconds, now_seconds() - begin);
        then(outcome);
      });
}

void LeadFile::drop(std::int64_t step, const Outcome& outcome) {
  committing_ = true;
  contents_.remove_step(step);
  const auto dropped = [=, this](const Outcome&) {
    context_.submit(publication_.drop_step(step), [=, this](const Outcome&) {
      committing_ = false;
      settle(step, outcome);
      advance();
    });
  };
  if (settings_.file_per_step && !is_plain() && targets_[step].started && targets_[step].failure.ok()) {
    act(protocol::Action::finish, step, -1, dropped);  // an MPI file is closed by all, whatever becomes of it
  } else {
    dropped({});
  }
}

void LeadFile::settle(std::int64_t step, const Outcome& outcome) {
  next_commit_ = std::max(next_commit_, step + 1);
  steps_.erase(step);
  offsets_.erase(offsets_.lower_bound({step, 0}), offsets_.lower_bound({step + 1, 0}));
  asked_.erase(asked_.lower_bound({step, 0}), asked_.lower_bound({step + 1, 0}));
  if (settings_.file_per_step) {
    targets_.erase(step);
  }
  context_.post.to_all_servers(protocol::encode(key_, Kind::step_settled, protocol::StepNote{step, -1, 0, outcome}));
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

void LeadFile::home_close(const protocol::StepCounts& counts) {
  if (homes_closed_ > 0 && counts.step != close_sum_.step) {
    fail({ErrorCode::inconsistent_calls, "file \"" + open_.name + "\": some compute ranks closed it in step " +
                                             std::to_string(counts.step) + ", others in step " +
                                             std::to_string(close_sum_.step)});
  }
  close_sum_.step = counts.step;
  protocol::add(close_sum_, counts);
  if (++homes_closed_ < open_.homes) {
    return;
  }
  closing_ = true;
  steps_ended_ = close_sum_.step;
  if (!close_sum_.pieces.empty()) {
    ++steps_ended_;
    steps_[close_sum_.step].sum = close_sum_;
    announce(close_sum_.step);
  }
  advance();
}

void LeadFile::close() {
  committing_ = true;  // nothing else from now on
  if (settings_.file_per_step) {
    closed(failure_);
    return;
  }
  const auto give_up = [this](const Outcome& outcome) {
    context_.submit(publication_.abandon_file(), [=, this](const Outcome&) { closed(outcome); });
  };
  const auto finished = [=, this](const Outcome& outcome) {
    const bool nothing_left = steps_ended_ > 0 && committed_ == 0;
    if (!failure_.ok() || !outcome.ok() || nothing_left) {
      give_up(failure_.ok() ? in_file(outcome, -1) : failure_);
      return;
    }
    const std::int64_t bytes = steps_ended_ > 0 ? catalogue_.layout().end(steps_ended_ - 1) : 0;
    seal(steps_ended_ - 1, publication_.commit_file(bytes, contents_, catalogue_), [=, this](const Outcome& sealed) {
      if (sealed.ok()) {
        closed({});
      } else {
        give_up(in_file(sealed, -1));
      }
    });
  };
  if (!is_plain()) {
    act(protocol::Action::finish, -1, -1, finished);
    return;
  }
  finished(outcome_of([&] {
    if (auto format = std::move(targets_[-1].format); format && failure_.ok()) {
      format->finish(contents_.describe(catalogue_, 0, INT64_MAX));
    }
  }));
}

void LeadFile::closed(const Outcome& outcome) {
  over_ = true;
  context_.post.to_all_servers(protocol::encode(key_, Kind::file_closed, outcome));
}

}  // namespace iocomp::server
