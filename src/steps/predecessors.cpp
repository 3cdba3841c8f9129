// SPDX-License-Identifier: BSD-3-Clause
#include "steps/predecessors.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace iocomp::steps {

void add(Predecessors& sum, const Predecessors& more) {
  for (const auto& one : more) {
    const auto known = std::ranges::find(sum, one.file, &Predecessor::file);
    if (known == sum.end()) {
      sum.push_back(one);
      continue;
    }
    known->steps = std::max(known->steps, one.steps);
    if (known->failure.ok()) {
      known->failure = one.failure;
    }
  }
}

void Progress::settled(std::uint64_t file, std::int64_t step, const Outcome& outcome) {
  heard(file, {.settled = step + 1,
               .failed_from = outcome.ok() ? Standing::never : step,
               .failure = outcome});
}

void Progress::lost(std::uint64_t file, std::int64_t from_step, const Outcome& why) {
  heard(file, {.failed_from = from_step, .failure = why});
}

void Progress::heard(std::uint64_t file, const Standing& standing) {
  if (sound_.contains(file)) {
    return;
  }
  Standing& known = standings_[file];
  known.settled = std::max(known.settled, standing.settled);
  if (standing.failed_from < known.failed_from) {
    known.failed_from = standing.failed_from;
    known.failure = standing.failure;
  }
  ++version_;
}

void Progress::closed(std::uint64_t file) {
  followed_.erase(file);
  if (standing(file).failed_from == Standing::never) {
    standings_.erase(file);
    sound_.insert(file);
  } else {
    standings_[file].settled = Standing::never;
  }
  ++version_;
}

Standing Progress::standing(std::uint64_t file) const {
  if (sound_.contains(file)) {
    return {.settled = Standing::never};
  }
  const auto known = standings_.find(file);
  return known == standings_.end() ? Standing{} : known->second;
}

std::string Progress::owed_before(std::uint64_t file) const {
  std::string owed;
  const auto followed = followed_.find(file);
  for (const auto& one : followed == followed_.end() ? Predecessors{} : followed->second) {
    if (!verdict(one)) {
      owed += "; it comes after " + std::to_string(one.steps) + " steps of file \"" + one.name +
              "\", of which " + std::to_string(standing(one.file).settled) + " have settled";
    }
  }
  return owed;
}

std::optional<Outcome> Progress::verdict(const Predecessor& predecessor) const {
  const Standing now = standing(predecessor.file);
  if (!predecessor.failure.ok()) {
    return predecessor.failure;
  }
  if (now.failed_from < predecessor.steps) {
    return now.failure;
  }
  return now.settled >= predecessor.steps ? std::optional{Outcome{}} : std::nullopt;
}

}  // namespace iocomp::steps
