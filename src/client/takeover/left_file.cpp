// SPDX-License-Identifier: BSD-3-Clause
#include "client/takeover/left_file.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/small_files.h"
#include "client/remote/post_book.h"
#include "commit/commit.h"
#include "commit/manifest.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "commit/read_manifest.h"
#include "contents/catalogue.h"
#include "protocol/notes.h"

namespace iocomp::client {
namespace {

using protocol::Note;

Outcome failed_step(std::int64_t step, const Posted& posted) {
  if (const auto told = posted.failed.find(step); told != posted.failed.end()) {
    return told->second;
  }
  const auto known = posted.steps.find(step);
  if (known != posted.steps.end() && !known->second.failure.ok()) {
    return known->second.failure;
  }
  return {ErrorCode::storage_failure, "step " + std::to_string(step) + ": the step failed"};
}

// True if the file has its final name. Makes that durable, because the server may have ended before
// it did so. @throws Error{storage_failure}.
bool has_its_name(const commit::TargetNames& names) {
  const bool has_it = commit::has_final_name(names);
  if (has_it) {
    commit::make_published_durable(names);
  }
  return has_it;
}

commit::Manifest manifest_of(const commit::TargetNames& names) {
  return commit::parse_manifest(read_file(names.manifest).value_or(""), names.manifest.text());
}

// Once the file has its final name, the manifest tells which steps are committed.
commit::Left find_steps(const commit::Publication& publication, const Posted& posted,
                        const contents::Catalogue& catalogue) {
  const auto names = publication.names(-1);
  commit::Left left;
  left.is_published = has_its_name(names);
  left.path = left.is_published ? names.target : names.temporary;
  if (!left.path.is_there()) {
    throw Error{ErrorCode::storage_failure, "neither " + names.temporary.text() + " nor " +
                                                names.target.text() + " is there any more"};
  }
  if (!left.is_published) {
    return left;
  }
  const auto manifest = manifest_of(names);
  left.settled = manifest.committed_steps;
  std::map<std::string, int> numbers;
  for (int variable = 0; variable < catalogue.variables(); ++variable) {
    numbers[catalogue.variable(variable, posted.ended).name] = variable;
  }
  for (const auto& placed : manifest.inventory.contents) {
    if (const auto number = numbers.find(placed.variable.name); number != numbers.end()) {
      left.contents.push_back({placed.step, number->second, placed.sums});
    }
  }
  for (const auto step : manifest.absent) {
    left.failed.emplace(step, failed_step(step, posted));
  }
  return left;
}

// A file of an earlier run may have the name of a step that was not committed yet. So the notes of
// the servers are asked: they tell what was about to be published.
commit::Left find_checkpoints(const commit::Publication& publication, const Posted& posted,
                              const HasNote& has_note) {
  const auto is_committed = [&](std::int64_t step) {
    return has_note(Note::publishing, step) && has_its_name(publication.names(step));
  };
  commit::Left left;
  left.settled = posted.committed;
  for (std::int64_t step = posted.ended; step >= posted.committed; --step) {
    if (is_committed(step)) {
      left.settled = step + 1;
      break;
    }
  }
  for (std::int64_t step = 0; step < left.settled; ++step) {
    if (posted.failed.contains(step) ||
        (step >= posted.committed && has_note(Note::dropped, step))) {
      left.failed.emplace(step, failed_step(step, posted));
    }
  }
  auto& kept = left.kept;
  for (std::int64_t step = left.settled - 1; step >= 0 && kept.size() < publication.keeps();
       --step) {
    const Path target = publication.names(step).target;
    if (target.folder().find(target.name(), OpenFolder::Links::followed) &&
        !left.failed.contains(step)) {
      kept.push_front(publication.in_file(step));
    }
  }
  return left;
}

}  // namespace

commit::Left find_left_file(const commit::Publication& names, bool file_per_step,
                            const Posted& posted, const HasNote& has_note,
                            const contents::Catalogue& catalogue) {
  return file_per_step ? find_checkpoints(names, posted, has_note)
                       : find_steps(names, posted, catalogue);
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
  const auto manifest = manifest_of(names.names(step));
  const std::int64_t in_file = names.in_file(step);
  return in_file < manifest.committed_steps && !std::ranges::count(manifest.absent, in_file);
}

void remove_temporaries(const commit::Publication& names, bool file_per_step,
                        const Posted& posted) {
  commit::remove_server_files(names.names(-1));
  for (std::int64_t step = posted.committed; file_per_step && step <= posted.ended; ++step) {
    commit::remove_server_files(names.names(step));
  }
}

}  // namespace iocomp::client
