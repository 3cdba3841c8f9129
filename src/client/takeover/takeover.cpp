// SPDX-License-Identifier: BSD-3-Clause
#include "client/takeover/takeover.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "client/file.h"
#include "client/local/local_opener.h"
#include "client/remote/remote_carrier.h"
#include "client/takeover/left_file.h"
#include "client/takeover/lost_carrier.h"
#include "commit/publication.h"
#include "protocol/notes.h"

namespace iocomp::client {
using protocol::Note;

void Takeover::go_on_without_servers() {
  if (!link_.loss() || !link_.has_servers()) {
    return;
  }
  servers_have_ended_ = link_.waiting().wait_for_end_of_servers();
  link_.server_side().leave();
  link_.journal().note(*link_.loss() + "; the compute ranks go on without servers");
  if (place_.rank == 0) {
    std::fprintf(stderr, "iocomp: %s\n", link_.journal().notes().back().c_str());
  }
  if (!disk_.is_started()) {
    disk_.start();
  }
  for (auto& [key, opened] : files_) {
    if (opened.remote != nullptr) {
      carry_on(opened);
    }
  }
  link_.server_side().forget_copies();
}

void Takeover::carry_on(OpenedFile& opened) {
  const auto lost = obstacle(opened);
  if (lost) {
    (void)outcome_of([&] { (void)opened.remote->end_own_writes(); });
    // If carrying the file on has failed, nobody can tell what is true.
    const bool can_tell =
        servers_have_ended_ &&
        (!opened.remote->keeps_remains() || has_note(opened, Note::closed) ||
         has_note(opened, Note::failed_closed) || has_note(opened, Note::sync_failed));
    opened.file->carry_with(std::make_unique<LostCarrier>(opened.file->key(), *lost, link_,
                                                          committed_steps(opened, can_tell)));
  }
  opened.remote = nullptr;
}

bool Takeover::has_note(const OpenedFile& opened, Note note, std::int64_t step) {
  return link_.server_side().have_noted(protocol::word(opened.file->key(), note, step));
}

// Tells which steps the servers have called committed, or have left committed on disk.
std::function<bool(std::int64_t)> Takeover::committed_steps(const OpenedFile& opened,
                                                            bool can_tell) {
  commit::Publication names{opened.identity(place_.job), *opened.format, &opened.file->catalogue()};
  can_tell = can_tell && outcome_of([&] { names.begin_at(opened.remote->beginning()); }).ok();
  return [this, names, key = opened.file->key(), steps_in_flight = opened.settings.steps_in_flight,
          lasts = opened.settings.file_per_step || opened.format->traits().readable_while_open,
          can_tell](std::int64_t step) mutable {
    const RemoteFile& remote = link_.file(key);
    if (lasts && step < remote.settled) {
      return !remote.failures.contains(step);
    }
    const auto has_note = [&](Note note, std::int64_t noted) {
      return link_.server_side().have_noted(protocol::word(key, note, noted));
    };
    bool is_there = false;
    // After a failed fsync, the next one succeeds and means nothing.
    can_tell = can_tell && outcome_of([&] {
                             is_there = is_committed(names, step, steps_in_flight, has_note);
                           }).ok();
    return can_tell && is_there;
  };
}

bool Takeover::is_opened_by_servers(const OpenedFile& opened) {
  return opened.remote != nullptr && has_note(opened, Note::opened);
}

void Takeover::check_not_refused(const OpenedFile& opened) {
  for (int code = 1; code <= static_cast<int>(ErrorCode::internal); ++code) {
    if (has_note(opened, Note::refused, code)) {
      throw Error{static_cast<ErrorCode>(code), "file \"" + opened.file->name() +
                                                    "\": the servers have refused it (" +
                                                    code_name(code) + "); then " + *link_.loss()};
    }
  }
}

// Nothing was committed since then, because this rank has ended no step.
contents::Beginning Takeover::find_beginning(const OpenedFile& opened) const {
  commit::Publication names{opened.identity(place_.job), *opened.format, &opened.file->catalogue()};
  names.resolve();
  auto beginning = names.find_beginning();
  beginning.folder = opened.folder;
  return beginning;
}

// @return why nobody can carry the file on, or that there is nothing left to do; nothing if this
// rank carries it on.
std::optional<Outcome> Takeover::obstacle(OpenedFile& opened) {
  const std::string name = "file \"" + opened.file->name() + "\": ";
  std::string story;
  if (!opened.remote->keeps_remains()) {
    story = *link_.loss() + ", and a file of back-end " + std::string{opened.format->name()} +
            " cannot be finished without it" +
            (link_.server_side().leave_notes() ? "" : " (there are several nodes)");
  } else if (opened.remote->beginning().is_there) {
    story = *link_.loss() + ", and a file that an earlier job began cannot be finished without it";
  } else if (!servers_have_ended_) {
    story = *link_.loss() + ", and another server does not leave the file";
  } else if (has_note(opened, Note::failed_closed)) {
    story = *link_.loss() + "; it had failed before";
  } else if (has_note(opened, Note::closed)) {
    settle_steps(opened);
    return Outcome{};
  } else if (has_note(opened, Note::sync_failed)) {
    story = *link_.loss() +
            "; an fsync had failed before, so data that servers have written may be lost";
  } else {
    const Outcome taken_over = outcome_of([&] { take_over(opened); });
    if (taken_over.ok()) {
      return std::nullopt;
    }
    story = *link_.loss() + ", and " + taken_over.story;
  }
  log::error(name + story);
  return Outcome{ErrorCode::storage_failure, name + story};
}

// The servers have closed the file, and maybe not told this rank which of its steps failed.
void Takeover::settle_steps(const OpenedFile& opened) {
  const File& file = *opened.file;
  const Outcome failed{ErrorCode::storage_failure,
                       "the step failed for a reason that nobody has told; " + *link_.loss()};
  for (auto step = link_.file(file.key()).settled; step < file.ended_steps(); ++step) {
    const std::string where = ", step " + std::to_string(file.catalogue().number(step));
    link_.server_side().settled(
        file.key(), step,
        has_note(opened, Note::dropped, step) ? in_file(failed, file.name(), where) : Outcome{});
  }
}

void Takeover::take_over(OpenedFile& opened) {
  const std::uint64_t key = opened.file->key();
  const std::size_t blocks =
      opener_.resume(opened, opened.remote->take_remains(), [&](Note note, std::int64_t step) {
        return link_.server_side().have_noted(protocol::word(key, note, step));
      });
  const std::string story = *link_.loss() + "; " + std::to_string(blocks) + " blocks of file \"" +
                            opened.file->name() + "\" are written by compute rank " +
                            std::to_string(place_.rank);
  log::error(story);
  link_.journal().note(story);
}

}  // namespace iocomp::client
