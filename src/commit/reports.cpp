// SPDX-License-Identifier: BSD-3-Clause
#include "commit/reports.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "base/open_folder.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "steps/definitions.h"
#include "steps/ends.h"

namespace iocomp::commit {

using protocol::Kind;

std::string different_folder(const FolderAddress& first, const FolderAddress& other) {
  return first.path == other.path || have_the_same_numbers(first, other)
             ? ""
             : other.path + ", not " + first.path +
                   " (a path that is not absolute begins at the working directory of the rank)";
}

std::string different_open(const protocol::Open& first, const protocol::Open& other,
                           const std::string& who) {
  const auto words = [](const protocol::Open& open) {
    return std::tie(open.name, open.options, open.kind, open.members, open.after);
  };
  if (const auto what = different_folder(first.beginning.folder, other.beginning.folder);
      !what.empty()) {
    return who + " means another folder than compute rank " + std::to_string(first.opener) + ": " +
           what;
  }
  return words(first) == words(other)
             ? ""
             : who +
                   " opened it as another kind of file, after another step or with other options "
                   "than compute rank " +
                   std::to_string(first.opener);
}

Reports::Reports(std::uint64_t key, std::int64_t members, Pass pass, Different different)
    : key_{key},
      pass_{std::move(pass)},
      different_{std::move(different)},
      ends_{members, different_} {}

void Reports::event(const protocol::Event& event) {
  switch (definitions_.say(event.sequence, event.caller, event.what)) {
    case steps::Definitions::Said::first:
      pass_(protocol::encode(key_, Kind::home_event, event));
      break;
    case steps::Definitions::Said::different:
      different_(definitions_.difference(event.sequence, event.caller, event.what));
      break;
    case steps::Definitions::Said::again:
      break;
  }
}

void Reports::step_ended(const protocol::StepCounts& counts, const std::string& who) {
  if (const auto sum = ends_.end(counts, who)) {
    definitions_.shorten(sum->step);
    pass_(protocol::encode(key_, Kind::home_step, *sum));
  }
}

void Reports::closed(const protocol::StepCounts& counts, const std::string& who) {
  if (const auto sum = ends_.close(counts, who)) {
    pass_(protocol::encode(key_, Kind::home_close, *sum));
  }
}

}  // namespace iocomp::commit
