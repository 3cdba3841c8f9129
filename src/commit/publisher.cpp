// SPDX-License-Identifier: BSD-3-Clause
#include "commit/publisher.h"

#include <fcntl.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/bug.h"
#include "base/error.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/owner.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/lustre_layout.h"
#include "formats/open_together.h"
#include "formats/visibility.h"
#include "steps/orders.h"

namespace iocomp::commit {

using steps::Action;

namespace {

void write_switch(disk::OutputFile& file, const formats::Switch& visible) {
  file.write(visible.offset, visible.bytes);
  file.sync();
}

}  // namespace

Publisher::Publisher(Setup setup, Means means, const contents::Catalogue& catalogue)
    : setup_{std::move(setup)},
      means_{std::move(means)},
      publication_{setup_.identity, *setup_.format, &catalogue},
      catalogue_{catalogue} {}

Outcome Publisher::in_file(const Outcome& outcome, std::int64_t first, std::int64_t last) const {
  const auto number = [this](std::int64_t step) { return std::to_string(catalogue_.number(step)); };
  const std::string where = last < 0        ? ""
                            : first == last ? ", step " + number(last)
                                            : ", steps " + number(first) + " to " + number(last);
  return iocomp::in_file(outcome, setup_.identity.name, where + setup_.who);
}

contents::Beginning Publisher::prepare() {
  publication_.resolve();
  const auto& identity = setup_.identity;
  // A stopped server may go on with a write of its format, or with the removal of what lies behind
  // the step after which it continues a file. So only new plain files with a fixed layout can be
  // taken from it.
  const bool can_be_taken =
      is_plain() && traits().offsets_by_layout && identity.existing != config::Existing::go_on;
  const bool is_alone = identity.claim == Owner::Claim::from_server && !can_be_taken;
  owner_ = std::make_unique<Owner>(publication_.path(), identity.job,
                                   is_alone ? Owner::Claim::alone : identity.claim, files());
  owner_->check_others(publication_.path());
  clear_away(publication_.path(), *owner_);
  const auto beginning = publication_.begin();
  publication_.go_on(setup_.options);
  return beginning;
}

void Publisher::start(std::int64_t number, const Then& then) {
  Target& target = targets_[number];
  if (target.is_started) {
    then(target.failure);
    return;
  }
  target.waiting.push_back(then);
  if (std::exchange(target.is_asked, true)) {
    return;
  }
  const formats::Format& format = *setup_.format;
  const Outcome outcome = outcome_of([&] {
    if (is_begun_by_writers() && number >= 0) {
      // A rank that has values has made the file. A new one in its place would lose them.
      const Path path = publication_.data_path(number);
      const bool is_there = target.has_values || path.folder().find(path.name()).has_value();
      target.file = open(number, is_there ? formats::Opening::finds : formats::Opening::shares);
      return;
    }
    if (number >= 0) {
      publication_.prepare(number);
    }
    const Path path = publication_.data_path(number);
    if (is_plain() && publication_.opening() == formats::Opening::finds) {
      target.file = std::make_shared<disk::OutputFile>(formats::make_file(path, O_RDWR),
                                                       path.text(), setup_.disk);
    }
    if (format.traits().has_to_place()) {
      target.format = std::get<std::unique_ptr<formats::PlainTarget>>(
          format.create(path, setup_.options, formats::Communicator{MPI_COMM_SELF}));
    }
  });
  if (is_plain() || !outcome.ok()) {
    started(number, outcome);
  } else {
    means_.act(Action::create, number, 0,
               [this, number](const Outcome& done) { started(number, done); });
  }
}

std::shared_ptr<disk::OutputFile> Publisher::open(std::int64_t number,
                                                  formats::Opening opening) const {
  const Path path = publication_.data_path(number);
  return std::make_shared<disk::OutputFile>(formats::open_physical(path, opening, O_RDWR),
                                            path.text(), setup_.disk);
}

void Publisher::started(std::int64_t number, const Outcome& outcome) {
  Target& target = targets_[number];
  target.failure = outcome;
  if (outcome.ok() && !traits().writes_whole_steps() && !target.file) {
    target.failure = outcome_of([&] { target.file = open(number, publication_.opening()); });
  }
  target.is_started = true;
  target.failure = in_file(target.failure, number);
  const Outcome told = target.failure;
  for (const auto& then : std::exchange(target.waiting, {})) {
    then(told);
  }
}

void Publisher::place(std::int64_t step, int variable, const Told& told) {
  if (!asked_.insert({step, variable}).second) {
    return;  // it was told, or is about to be
  }
  start_for(step, [=, this](const Outcome& outcome) {
    if (!outcome.ok() || !traits().has_to_place()) {
      told(-1, outcome);
    } else {
      have_placed(step, variable, told);
    }
  });
}

void Publisher::have_placed(std::int64_t step, int variable, const Told& told) {
  std::int64_t offset = -1;
  const Outcome made = outcome_of([&] {
    offset = targets_[publication_.target_of(step)].format->place(
        catalogue_.variable(variable, step), publication_.in_file(step), {catalogue_, step});
  });
  offsets_[{step, variable}] = offset;
  told(offset, in_file(made, step));
}

void Publisher::go_on_after(const Left& left) {
  (void)outcome_of([this] {
    owner_ = std::make_unique<Owner>(publication_.path(), setup_.identity.job,
                                     Owner::Claim::from_server, files());
  });
  if (ends_files()) {
    publication_.go_on_after(left.kept, left.committed() > 0);
    return;
  }
  const auto absent = std::views::keys(left.failed);
  publication_.go_on_after(left.settled, {absent.begin(), absent.end()}, left.is_published);
  for (std::int64_t step = 0; step < left.settled; ++step) {
    if (!left.failed.contains(step)) {
      contents_.add(step);
    }
  }
  for (const auto& [step, variable, sums] : left.contents) {
    contents_.add(step, variable, catalogue_.layout().offset(variable, step), sums);
  }
  Target& target = targets_[-1];
  const auto opening =
      left.is_published ? formats::Opening::finds_earlier : formats::Opening::finds;
  target.file = std::make_shared<disk::OutputFile>(
      formats::open_physical(left.path, opening, O_RDWR), left.path.text(), setup_.disk);
  target.is_asked = target.is_started = true;
}

void Publisher::commit(const steps::Commit& order, std::int64_t settled, const Then& then) {
  for (std::int64_t step = order.first; step <= order.last; ++step) {
    contents_.add(step);
  }
  for (const auto& [step, variable, sums] : order.contents) {
    const auto told = offsets_.find({step, variable});
    const std::int64_t offset = told == offsets_.end() ? -1 : told->second;
    contents_.add(step, variable, traits().offset(catalogue_.layout(), variable, step, offset),
                  sums);
  }
  const std::int64_t last = order.last;
  const auto explained = [=, this, first = order.first](const Outcome& outcome) {
    then(in_file(outcome, first, last));
  };
  if (order.has_values) {
    note_values(last);
  }
  start(publication_.target_of(last), [=, this](const Outcome& outcome) {
    if (!outcome.ok()) {
      explained(outcome);
      return;
    }
    prepare_commit(
        last, settled, [=, this](const Outcome& prepared, const formats::Switch& visible) {
          if (prepared.ok()) {
            seal(last, visible, publication_.commit_step(last, contents_, catalogue_), explained);
          } else {
            explained(prepared);
          }
        });
  });
}

// Writes into the file what the format still holds.
void Publisher::prepare_commit(std::int64_t step, std::int64_t settled, const Prepared& then) {
  const std::int64_t number = publication_.target_of(step);
  if (is_plain()) {
    formats::Switch visible;
    const Outcome outcome = outcome_of(
        [&] { visible = ends_files() ? finish_in_format(number, step) : commit_in_format(step); });
    then(outcome, visible);
  } else if (!ends_files() && !traits().writes_whole_steps()) {
    then({}, {});  // MPI has written it
  } else {
    means_.act(ends_files() ? Action::finish : Action::flush, number, settled,
               [then](const Outcome& outcome) { then(outcome, {}); });
  }
}

formats::Switch Publisher::commit_in_format(std::int64_t step) {
  Target& target = targets_[-1];
  if (!target.format) {
    return {};
  }
  return target.format->commit(
      publication_.as_in_file(contents_.describe(catalogue_, target.told, step)),
      publication_.in_file(target.told));
}

// Attributes that were set late also belong to earlier steps.
formats::Switch Publisher::finish_in_format(std::int64_t number, std::int64_t first) {
  Target& target = targets_[number];
  const auto format = std::move(target.format);
  if (!format) {
    return {};
  }
  const std::int64_t last = number < 0 ? INT64_MAX : number;
  const bool has_late_ones = number < 0 && first > 0 && contents_.lacks_attributes(catalogue_);
  const std::int64_t from = has_late_ones ? 0 : first;
  return format->finish(publication_.as_in_file(contents_.describe(catalogue_, from, last)),
                        publication_.in_file(from));
}

void Publisher::seal(std::int64_t last, const formats::Switch& visible, Publication::Commit commit,
                     const Then& then) {
  Target& target = targets_[publication_.target_of(last)];
  const std::int64_t bytes = publication_.bytes(last, contents_, catalogue_);
  means_.publishing(last);
  if (!target.visibility) {
    target.visibility = std::make_shared<formats::Visibility>(path_of_earlier());
  }
  means_.run(
      [file = target.file, visibility = target.visibility, bytes, visible,
       before = publication_.bytes_before(), commit = std::move(commit)] {
        // The manifest is prepared first, so that one commit of the file system's journal serves
        // both.
        const std::int64_t length = commit.measure ? commit.measure() : bytes;
        const auto manifest = commit.prepare ? commit.prepare() : nullptr;
        if (has_bug(Bug::switched_too_early) && file && !visible.bytes.empty()) {
          write_switch(*file, visible);
        }
        if (file) {  // a step can end in a hole, so the length must be set too
          // A chunk that an earlier job began may end behind the step. Its last byte is written
          // now.
          file->grow(length > before ? length : 0);
          file->sync();
        }
        visibility->show(
            visible, [&file](const formats::Switch& next) { write_switch(*file, next); },
            [&] { commit.publish(manifest); });
      },
      [=, this, visibility = target.visibility](const Outcome& outcome) {
        if (outcome.ok()) {
          has_seen(last, visible);
        } else if (visibility->is_stuck() || publication_.is_stuck()) {
          targets_[publication_.target_of(last)].failure =
              in_file({outcome.code,
                       "nothing more can be committed, since a failure could not be undone: " +
                           outcome.story},
                      -1);
        }
        then(outcome);
      });
}

// Notes that readers find the steps up to this one.
void Publisher::has_seen(std::int64_t last, const formats::Switch& visible) {
  const auto found = targets_.find(publication_.target_of(last));
  if (found == targets_.end() || visible.bytes.empty()) {
    return;
  }
  found->second.told = last + 1;
  if (found->second.format) {
    found->second.format->is_visible();
  }
}

void Publisher::drop(std::int64_t step, std::int64_t settled, const Then& then) {
  means_.dropping(step);
  if (!has_bug(Bug::dropped_step_described)) {
    contents_.remove_step(step);
  }
  const auto dropped = [=, this](const Outcome&) {
    means_.run(publication_.drop_step(step), then);
  };
  const std::int64_t number = publication_.target_of(step);
  if (is_plain() || !ends_files() || !targets_.contains(number)) {
    dropped({});
    return;
  }
  // All writers close a file of a library together, also one that is dropped. They may be creating
  // it just now.
  start(number, [=, this](const Outcome& started) {
    if (started.ok()) {
      means_.act(Action::discard, step, settled, dropped);
    } else {
      dropped({});
    }
  });
}

std::optional<std::int64_t> Publisher::begun_by_all() const {
  const bool is_any = !is_plain() && ends_files() && !targets_.empty();
  return is_any ? std::optional{targets_.begin()->first} : std::nullopt;
}

void Publisher::abandon() {
  for (const auto& [number, target] : targets_) {
    if (is_plain() && number >= 0) {
      commit::abandon(publication_.names(number));
    }
  }
  if (targets_.contains(-1)) {  // otherwise the file of that name may be another one of this job
    publication_.abandon_file()();
  }
}

void Publisher::settle(std::int64_t step) {
  offsets_.erase(offsets_.lower_bound({step, 0}), offsets_.lower_bound({step + 1, 0}));
  asked_.erase(asked_.lower_bound({step, 0}), asked_.lower_bound({step + 1, 0}));
  if (ends_files()) {
    targets_.erase(step);
  }
}

void Publisher::finish(const steps::Finish& order, std::int64_t settled, const Then& then) {
  end_format(order, settled, [=, this](const Outcome& outcome, const formats::Switch& visible) {
    const auto give_up = [=, this](const Outcome& cause) {
      means_.run(publication_.abandon_file(),
                 [=, this](const Outcome&) { then(in_file(cause, -1)); });
    };
    const bool is_idle = order.steps == 0 && publication_.would_replace();
    if (!outcome.ok() || !order.is_kept || is_idle) {
      give_up(outcome);
      return;
    }
    seal(settled - 1, visible, publication_.commit_file(contents_, catalogue_),
         [=](const Outcome& sealed) {
           if (sealed.ok()) {
             then({});
           } else {
             give_up(sealed);
           }
         });
  });
}

void Publisher::end_format(const steps::Finish& order, std::int64_t settled, const Prepared& then) {
  if (!is_plain()) {
    means_.act(order.has_failed ? Action::discard : Action::finish, -1, settled,
               [then](const Outcome& outcome) { then(outcome, {}); });
    return;
  }
  Target& target = targets_[-1];
  formats::Switch visible;
  const Outcome outcome = target.failure.ok()
                              ? outcome_of([&] { visible = finish_in_format(-1, target.told); })
                              : target.failure;
  then(outcome, visible);
}

}  // namespace iocomp::commit
