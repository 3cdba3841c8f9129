// SPDX-License-Identifier: BSD-3-Clause
#include "client/takeover/left_file.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "base/error.h"
#include "base/small_files.h"
#include "client/takeover/remains.h"
#include "commit/manifest.h"
#include "commit/publication.h"
#include "commit/published.h"
#include "contents/catalogue.h"
#include "protocol/notes.h"

namespace iocomp::client {
namespace {

using protocol::Note;

Outcome failed_step(std::int64_t step, const Remains& remains) {
  if (const auto told = remains.failed.find(step); told != remains.failed.end()) {
    return told->second;
  }
  const auto known = remains.steps.find(step);
  if (known != remains.steps.end() && !known->second.failure.ok()) {
    return known->second.failure;
  }
  return {ErrorCode::storage_failure, "step " + std::to_string(step) + ": the step failed"};
}

// True if the file has its final name. Makes that durable, because the server may have ended before
// it did so. @throws Error{storage_failure}.
bool has_its_name(const commit::TargetNames& names) {
  const auto found = commit::look_at(names);
  const bool has_it = found.has_target && !found.has_temporary;
  if (has_it) {
    commit::make_published_durable(names);
  }
  return has_it;
}

// Once the file has its final name, the manifest tells which steps are committed.
LeftFile find_steps(const commit::Publication& publication, const Remains& remains,
                    const contents::Catalogue& catalogue) {
  const auto names = publication.names(-1);
  (void)has_its_name(names);
  const auto found = commit::read_published(names);
  if (!found.has_temporary && !found.has_target) {
    throw Error{ErrorCode::storage_failure, "neither " + names.temporary.text() + " nor " +
                                                names.target.text() + " is there any more"};
  }
  LeftFile left;
  left.settled = found.steps;
  left.earlier.path = found.has_temporary ? names.temporary : names.target;
  left.earlier.is_published = !found.has_temporary;
  left.earlier.steps = found.steps;
  left.earlier.absent = found.absent;
  std::map<std::string, int> numbers;
  for (int variable = 0; variable < catalogue.variables(); ++variable) {
    numbers[catalogue.variable(variable, remains.ended).name] = variable;
  }
  for (const auto& placed : found.contents) {
    if (const auto number = numbers.find(placed.variable.name); number != numbers.end()) {
      left.earlier.contents.push_back({placed.step, number->second, placed.sums});
    }
  }
  for (const auto step : found.absent) {
    left.failed.emplace(step, failed_step(step, remains));
  }
  return left;
}

// A file of an earlier run may have the name of a step that was not committed yet. So the notes of
// the servers are asked: they tell what was about to be published.
LeftFile find_checkpoints(const commit::Publication& publication, const Remains& remains,
                          const HasNote& has_note) {
  const auto is_committed = [&](std::int64_t step) {
    return has_note(Note::publishing, step) && has_its_name(publication.names(step));
  };
  LeftFile left;
  left.settled = remains.committed;
  for (std::int64_t step = remains.ended; step >= remains.committed; --step) {
    if (is_committed(step)) {
      left.settled = step + 1;
      break;
    }
  }
  for (std::int64_t step = 0; step < left.settled; ++step) {
    if (remains.failed.contains(step) ||
        (step >= remains.committed && has_note(Note::dropped, step))) {
      left.failed.emplace(step, failed_step(step, remains));
    }
  }
  auto& kept = left.earlier.kept;
  for (std::int64_t step = left.settled - 1; step >= 0 && kept.size() < publication.keeps();
       --step) {
    if (commit::look_at(publication.names(step)).has_target && !left.failed.contains(step)) {
      kept.push_front(publication.in_file(step));
    }
  }
  left.earlier.has_committed = left.committed() > 0;
  return left;
}

}  // namespace

LeftFile find_left_file(const commit::Publication& names, bool file_per_step,
                        const Remains& remains, const HasNote& has_note,
                        const contents::Catalogue& catalogue) {
  return file_per_step ? find_checkpoints(names, remains, has_note)
                       : find_steps(names, remains, catalogue);
}

// A note stands for the last step of those that were committed together.
bool is_committed(const commit::Publication& names, std::int64_t step, int steps_in_flight,
                  const HasNote& has_note) {
  bool is_noted = false;
  for (std::int64_t last = step; last <= step + steps_in_flight && !is_noted; ++last) {
    is_noted = names.target_of(last) == names.target_of(step) && has_note(Note::publishing, last);
  }
  if (!is_noted || has_note(Note::dropped, step) || !has_its_name(names.names(step))) {
    return false;
  }
  if (names.target_of(step) == step) {
    return true;
  }
  const auto found = commit::read_published(names.names(step));
  const std::int64_t in_file = names.in_file(step);
  return in_file < found.steps && std::ranges::find(found.absent, in_file) == found.absent.end();
}

void remove_temporaries(const commit::Publication& names, bool file_per_step,
                        const Remains& remains) {
  commit::remove_server_files(names.names(-1));
  for (std::int64_t step = remains.committed; file_per_step && step <= remains.ended; ++step) {
    commit::remove_server_files(names.names(step));
  }
}

}  // namespace iocomp::client
