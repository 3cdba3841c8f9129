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
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "server/file.h"
#include "server/lead.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;

void LeadFile::home_step(const protocol::StepCounts& counts) {
  Step& step = steps_[counts.step];
  if (step.sum.members > 0 && counts.events != step.sum.events) {
    fail({ErrorCode::inconsistent_calls,
          "file \"" + open_.name + "\": some compute ranks ended step " +
              std::to_string(counts.step) + " after " + std::to_string(counts.events) +
              " definitions, others after " + std::to_string(step.sum.events)});
  }
  step.sum.step = counts.step;
  step.sum.events = counts.events;
  protocol::add(step.sum, counts);
  if (step.sum.members == open_.members) {
    announce(counts.step);
  }
}

void LeadFile::announce(std::int64_t step) {
  std::vector<std::int64_t> expected(static_cast<std::size_t>(context_.place.ranks.size()), 0);
  for (const auto& [server, pieces] : steps_[step].sum.pieces) {
    expected[static_cast<std::size_t>(server)] += pieces;
  }
  auto expectation = this->expectation(step);
  for (std::size_t server = 0; server < expected.size(); ++server) {
    expectation.pieces = expected[server];
    context_.post.to_server(static_cast<int>(server), protocol::encode(key_, expectation));
  }
}

void LeadFile::step_done(const protocol::StepNote& note) {
  Step& step = steps_[note.step];
  if (!note.outcome.ok() && step.failure.ok()) {
    step.failure = note.outcome;
  }
  if (++step.servers_done < context_.place.ranks.size()) {
    return;
  }
  step.servers_done = 0;
  if (!step.failure.ok() || !failure_.ok() || (step.unsure.empty() && step.holes.empty())) {
    step.complete = true;
    advance();
  } else if (!step.unsure.empty()) {
    examine(note.step);
  } else {
    fill_holes(note.step);
  }
}

void LeadFile::advance() {
  if (committing_ || examining_ > 0 || over_) {
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
    if (!settings_.file_per_step && format_.readable_while_open() &&
        !format_.writes_whole_steps()) {
      // Steps that became complete during the last commit share the next one.
      while ((next = steps_.find(last + 1)) != steps_.end() && next->second.complete &&
             next->second.failure.ok()) {
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
    for (const auto& [variable, cover] : steps_[step].sum.variables) {
      const auto told = offsets_.find({step, variable});
      const std::int64_t offset = format_.offsets_by_layout()
                                      ? catalogue_.layout().offset(variable, step)
                                  : told != offsets_.end() ? told->second
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
      seal(last, publication_.commit_step(last, contents_, catalogue_), settled);
    });
  });
}

void LeadFile::prepare_commit(std::int64_t step, const Then& then) {
  const std::int64_t number = publication_.target_of(step);
  const bool ends = settings_.file_per_step;
  if (!ends && format_.readable_while_open() && !format_.writes_whole_steps()) {
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

void LeadFile::seal(std::int64_t last, commit::Publication::Job job, Then then) {
  const auto file = targets_[publication_.target_of(last)].file;
  const std::int64_t bytes = publication_.bytes(last, contents_, catalogue_);
  context_.busy.begin(trace::Activity::commit, now_seconds());
  context_.post.write_note(protocol::word(key_, protocol::Note::publishing, last));
  context_.submit(
      [file, bytes, job = std::move(job)] {
        if (file) {
          file->grow(bytes);
          file->sync();
        }
        job();
      },
      [this, then = std::move(then)](const Outcome& outcome) {
        context_.busy.end(trace::Activity::commit, now_seconds());
        then(outcome);
      });
}

void LeadFile::drop(std::int64_t step, const Outcome& outcome) {
  committing_ = true;
  context_.post.write_note(protocol::word(key_, protocol::Note::dropped, step));
  contents_.remove_step(step);
  const auto dropped = [=, this](const Outcome&) {
    context_.submit(publication_.drop_step(step), [=, this](const Outcome&) {
      committing_ = false;
      settle(step, outcome);
      advance();
    });
  };
  if (settings_.file_per_step && !is_plain() && targets_[step].started &&
      targets_[step].failure.ok()) {
    act(protocol::Action::discard, step, -1,
        dropped);  // an MPI file is closed by all, whatever becomes of it
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
  context_.post.to_all_servers(
      protocol::encode(key_, Kind::step_settled, protocol::StepNote{step, -1, 0, outcome}));
}

void LeadFile::home_close(const protocol::StepCounts& counts) {
  if (close_sum_.members > 0 && counts.step != close_sum_.step) {
    fail({ErrorCode::inconsistent_calls,
          "file \"" + open_.name + "\": some compute ranks closed it in step " +
              std::to_string(counts.step) + ", others in step " + std::to_string(close_sum_.step)});
  } else if (close_sum_.members > 0 && counts.events != close_sum_.events) {
    fail({ErrorCode::inconsistent_calls,
          "file \"" + open_.name + "\": some compute ranks closed it after " +
              std::to_string(counts.events) + " definitions, others after " +
              std::to_string(close_sum_.events)});
  }
  close_sum_.step = counts.step;
  close_sum_.events = counts.events;
  protocol::add(close_sum_, counts);
  if (close_sum_.members < open_.members) {
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
    seal(steps_ended_ - 1, publication_.commit_file(contents_, catalogue_),
         [=, this](const Outcome& sealed) {
           if (sealed.ok()) {
             closed({});
           } else {
             give_up(in_file(sealed, -1));
           }
         });
  };
  if (!is_plain()) {
    act(failure_.ok() ? protocol::Action::finish : protocol::Action::discard, -1, -1, finished);
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
  context_.post.write_note(
      protocol::word(key_, outcome.ok() ? protocol::Note::closed : protocol::Note::failed_closed));
  context_.post.to_all_servers(protocol::encode(key_, Kind::file_closed, outcome));
}

}  // namespace iocomp::server
