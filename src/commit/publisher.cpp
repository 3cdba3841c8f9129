#include "commit/publisher.h"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/bug.h"
#include "base/error.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "formats/lustre_layout.h"
#include "steps/orders.h"

namespace iocomp::commit {

using steps::Action;

Publisher::Publisher(Setup setup, Means means, const contents::Catalogue& catalogue)
    : setup_{std::move(setup)},
      means_{std::move(means)},
      publication_{setup_.identity, *setup_.format},
      catalogue_{catalogue} {}

Outcome Publisher::in_file(const Outcome& outcome, std::int64_t step) const {
  if (outcome.ok() || outcome.story.starts_with("file \"")) {
    return outcome;
  }
  const std::string where = step >= 0 ? ", step " + std::to_string(step) : "";
  return {outcome.code,
          "file \"" + setup_.identity.name + '"' + where + setup_.who + ": " + outcome.story};
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
    if (is_begun_by_writers()) {
      return;
    }
    if (number >= 0) {
      publication_.prepare(number);
    }
    const std::string path = publication_.names(number).temporary;
    if (format.traits().folder_mark.empty()) {
      formats::lay_out(path);
    }
    if (format.traits().has_to_place()) {
      target.format = std::get<std::unique_ptr<formats::PlainTarget>>(
          format.create(path, setup_.options, MPI_COMM_SELF));
    }
  });
  if (is_plain() || !outcome.ok()) {
    started(number, outcome);
  } else {
    means_.act(Action::create, number, 0,
               [this, number](const Outcome& done) { started(number, done); });
  }
}

void Publisher::started(std::int64_t number, const Outcome& outcome) {
  Target& target = targets_[number];
  target.failure = outcome;
  if (outcome.ok() && !traits().writes_whole_steps()) {
    target.failure = outcome_of([&] {
      target.file =
          std::make_shared<disk::OutputFile>(publication_.names(number).temporary, setup_.disk);
    });
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
    return;  // told already, or about to be
  }
  start(publication_.target_of(step), [=, this](const Outcome& outcome) {
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
        catalogue_.variable(variable, step), step, catalogue_);
  });
  offsets_[{step, variable}] = offset;
  told(offset, in_file(made, step));
}

void Publisher::go_on_after(const Earlier& earlier) {
  if (ends_files()) {
    publication_.go_on_after(earlier.kept);
    return;
  }
  publication_.go_on_after(earlier.steps, earlier.absent, earlier.is_published);
  for (const auto& [step, variable] : earlier.contents) {
    contents_.add(step, variable, catalogue_.layout().offset(variable, step));
  }
  Target& target = targets_[-1];
  target.file = std::make_shared<disk::OutputFile>(earlier.path, setup_.disk);
  target.is_asked = target.is_started = true;
}

void Publisher::commit(const steps::Commit& order, std::int64_t settled, const Then& then) {
  for (const auto& [step, variable] : order.contents) {
    const auto told = offsets_.find({step, variable});
    const std::int64_t offset = traits().offsets_by_layout
                                    ? catalogue_.layout().offset(variable, step)
                                : told != offsets_.end() ? told->second
                                                         : -1;
    contents_.add(step, variable, offset);
  }
  const std::int64_t last = order.last;
  const auto explained = [=, this](const Outcome& outcome) { then(in_file(outcome, last)); };
  start(publication_.target_of(last), [=, this](const Outcome& outcome) {
    if (!outcome.ok()) {
      explained(outcome);
      return;
    }
    prepare_commit(last, settled, [=, this](const Outcome& prepared) {
      if (prepared.ok()) {
        seal(last, publication_.commit_step(last, contents_, catalogue_), explained);
      } else {
        explained(prepared);
      }
    });
  });
}

// What the format holds goes into the file.
void Publisher::prepare_commit(std::int64_t step, std::int64_t settled, const Then& then) {
  const std::int64_t number = publication_.target_of(step);
  if (!ends_files() && traits().readable_while_open && !traits().writes_whole_steps()) {
    then({});
  } else if (!is_plain()) {
    means_.act(ends_files() ? Action::finish : Action::flush, number, settled, then);
  } else {
    then(outcome_of([&] {
      if (auto& format = targets_[number].format; format && ends_files()) {
        format->finish(contents_.describe(catalogue_, step, step));
      } else if (format) {
        format->flush();
      }
    }));
  }
}

void Publisher::seal(std::int64_t last, Publication::Job job, const Then& then) {
  const auto file = targets_[publication_.target_of(last)].file;
  const std::int64_t bytes = publication_.bytes(last, contents_, catalogue_);
  means_.publishing(last);
  means_.run(
      [file, bytes, job = std::move(job)] {
        if (file) {
          file->grow(bytes);
          file->sync();
        }
        job();
      },
      then);
}

void Publisher::drop(std::int64_t step, std::int64_t settled, const Then& then) {
  means_.dropping(step);
  if (!has_bug(Bug::dropped_step_described)) {
    contents_.remove_step(step);
  }
  const auto dropped = [=, this](const Outcome&) {
    means_.run(publication_.drop_step(step), then);
  };
  const Target& target = targets_[publication_.target_of(step)];
  if (ends_files() && !is_plain() && target.is_started && target.failure.ok()) {
    // A file of a library is closed by all, whatever becomes of it.
    means_.act(Action::discard, step, settled, dropped);
  } else {
    dropped({});
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
  end_format(order, settled, [=, this](const Outcome& outcome) {
    const auto give_up = [=, this](const Outcome& cause) {
      means_.run(publication_.abandon_file(),
                 [=, this](const Outcome&) { then(in_file(cause, -1)); });
    };
    if (!outcome.ok() || !order.is_kept) {
      give_up(outcome);
      return;
    }
    seal(settled - 1, publication_.commit_file(contents_, catalogue_), [=](const Outcome& sealed) {
      if (sealed.ok()) {
        then({});
      } else {
        give_up(sealed);
      }
    });
  });
}

void Publisher::end_format(const steps::Finish& order, std::int64_t settled, const Then& then) {
  if (!is_plain()) {
    means_.act(order.has_failed ? Action::discard : Action::finish, -1, settled, then);
    return;
  }
  then(outcome_of([&] {
    if (auto format = std::move(targets_[-1].format)) {
      format->finish(contents_.describe(catalogue_, 0, INT64_MAX));
    }
  }));
}

}  // namespace iocomp::commit
