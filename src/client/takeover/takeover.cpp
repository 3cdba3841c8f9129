// SPDX-License-Identifier: BSD-3-Clause
#include "client/takeover/takeover.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/memory_box.h"
#include "base/bug.h"
#include "base/error.h"
#include "base/log.h"
#include "client/carrier.h"
#include "client/council/file_council.h"
#include "client/file.h"
#include "client/link.h"
#include "client/local/local_carrier.h"
#include "client/local/local_opener.h"
#include "client/local/member_blocks.h"
#include "client/remote/post_book.h"
#include "client/remote/remote_carrier.h"
#include "client/takeover/left_file.h"
#include "client/takeover/lost_carrier.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "protocol/header.h"
#include "protocol/notes.h"
#include "writer/writer_file.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::client {
using protocol::Note;

namespace {

/// Brings to a new carrier of a file what this rank had posted to servers that were given up.
class Resumption {
 public:
  /// @param carrier  goes on after `left`.
  Resumption(const OpenedFile& opened, LocalCarrier& carrier, const commit::Left& left, Link& link)
      : opened_{opened}, carrier_{carrier}, left_{left}, link_{link} {}

  /// @return blocks of this rank that are written again, or first.
  std::size_t write_again(Posted posted, const HasNote& has_note) {
    restore(posted.steps, has_note);
    auto pieces = unwritten(posted);
    resume_tickets(pieces);
    for (auto& [ticket, its_pieces] : pieces) {
      write_block(ticket, std::move(its_pieces));
    }
    end_steps(posted.steps);
    return pieces.size();
  }

 private:
  using Pieces = std::map<std::uint64_t, std::vector<Posted::Piece>>;  // by ticket

  [[nodiscard]] writer::WriterFile& writer() const noexcept { return carrier_.blocks().file(); }

  void restore(std::map<std::int64_t, Posted::Step>& steps, const HasNote& has_note) {
    for (auto& [number, known] : steps) {
      if (number < left_.settled) {
        continue;
      }
      Outcome failure = known.failure;
      if (opened_.settings.file_per_step && failure.ok() &&
          has_note(protocol::Note::dropped, number)) {
        failure = {ErrorCode::storage_failure, "the step failed"};
      }
      if (!known.variables.empty() && failure.ok()) {
        // Blocks that a server has written for this rank are made durable through this rank's
        // descriptor.
        (void)writer().files().writer_of(number).file().open();
        writer().note_writing(number);
      }
      writer().restore(number, std::move(known.puts));
      writer().fail_step(number, failure);
      carrier_.blocks().restore(number, std::move(known.variables));
    }
  }

  [[nodiscard]] Pieces unwritten(Posted& posted) {
    Pieces pieces;
    for (const std::uint64_t number : posted.in_headers) {
      const Ticket* ticket = link_.tickets().find(number);
      if (ticket != nullptr && ticket->step >= left_.settled) {
        Posted::Piece lost;
        lost.variable.name = ticket->variable;
        lost.step = ticket->step;
        lost.count = 1;
        lost.ticket = number;
        pieces[number].push_back(std::move(lost));
      }
    }
    for (auto& piece : posted.pieces) {
      if (piece.step >= left_.settled) {
        piece.copy = link_.copies().needed_for_disk(link_.server_side().take_copy(piece.post));
        pieces[piece.ticket].push_back(std::move(piece));
      }
    }
    return pieces;
  }

  void resume_tickets(const Pieces& pieces) {
    std::vector<std::uint64_t> done;
    link_.tickets().for_each([&](std::uint64_t number, Ticket& ticket) {
      if (ticket.file != opened_.file->key()) {
        return;
      }
      ticket.posts.clear();
      if (ticket.step < left_.settled && !left_.failed.contains(ticket.step)) {
        ticket.written = ticket.durable = ticket.pieces;
        done.push_back(number);
      } else if (ticket.step < left_.settled) {
        if (ticket.failure.ok()) {
          ticket.fail(writer().in_file(left_.failed.at(ticket.step), ticket.step));
        }
      } else if (!ticket.failure.ok()) {
        writer().fail_step(ticket.step, ticket.failure);
      } else if (ticket.pieces > 0 && ticket.written == ticket.pieces) {
        writer().restore({.step = ticket.step, .ticket = number});
      } else if (!pieces.contains(number)) {
        ticket.pieces = ticket.written = ticket.durable = 0;  // its put will be made again
      }
    });
    std::ranges::for_each(done, [this](auto number) { link_.tickets().settle(number); });
  }

  // A piece that no server has taken lies where it was, or in a copy. A piece that was taken, and
  // is not known to be written, was lost with its server.
  void write_block(std::uint64_t number, std::vector<Posted::Piece> pieces) {
    const auto held = std::make_shared<std::vector<Posted::Piece>>(std::move(pieces));
    const auto is_lost = [this](const Posted::Piece& piece) {
      return piece.count > 0 && link_.transport()->is_taken(piece.post);
    };
    std::int64_t elements = 1;  // the last one ends when all of the others were given
    for (const auto& piece : *held) {
      elements += piece.count;
    }
    const Posted::Piece& any = held->back();
    const auto block = writer().begin(any.step, {any.region, 0, elements}, -1, number);
    block->variable = any.variable;
    block->is_in_file_order = true;
    link_.tickets().find(number)->kept = true;
    writer().given(block, true);
    auto& file = writer().files().writer_of(any.step);
    Outcome failure;
    std::int64_t left = elements;
    for (auto& piece : *held) {
      if (is_lost(piece) && !has_bug(Bug::lost_piece_is_written)) {
        failure = {ErrorCode::storage_failure,
                   *link_.loss() + "; it had taken the block, and not written it"};
      } else if (piece.count > 0 && !has_bug(Bug::left_piece_forgotten)) {
        if (piece.rows && !is_lost(piece)) {
          const auto& rows = *piece.rows;
          piece.packed.resize(rows.bytes());
          array::pack(rows.memory, rows.element_bytes, rows.array, rows.first, rows.count,
                      piece.packed.data());
        } else if (piece.variable.kept_bits > 0 && !is_lost(piece)) {
          piece.packed.assign(piece.bytes.begin(), piece.bytes.end());  // to be rounded there
        }
        writing::Chunk chunk;
        chunk.piece = block;
        chunk.first = piece.first;
        chunk.count = piece.count;
        chunk.bytes = piece.packed.empty() ? piece.bytes : std::span<const std::byte>{piece.packed};
        chunk.own_bytes = piece.packed;
        chunk.loan = held;
        block->offset = writer().files().offset(piece.variable.id, piece.step);
        left -= piece.count;
        file.write(std::move(chunk));
      }
    }
    file.submit();
    writing::end(block, left, failure);
  }

  void end_steps(const std::map<std::int64_t, Posted::Step>& steps) {
    for (const auto& [number, known] : steps) {
      if (number >= left_.settled && known.ended) {
        auto counts = carrier_.blocks().end(
            number, false, has_bug(Bug::checksums_left_behind) ? PutSums{} : known.sums);
        counts.predecessors = known.predecessors;
        counts.events = known.events;
        carrier_.council().ended(protocol::Kind::home_step, counts);
      }
    }
  }

  const OpenedFile& opened_;
  LocalCarrier& carrier_;
  const commit::Left& left_;
  Link& link_;
};

}  // namespace

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
        (!opened.remote->keeps_posts() || has_note(opened, Note::closed) ||
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
  auto names = names_of(opened);
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
  auto names = names_of(opened);
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
  if (!opened.remote->keeps_posts()) {
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

commit::Publication Takeover::names_of(const OpenedFile& opened) const {
  return {opened.identity(place_.job), *opened.format, &opened.file->catalogue()};
}

void Takeover::take_over(OpenedFile& opened) {
  auto file = opened.remote->end_own_writes();
  Posted posted = opened.remote->take_posts();
  if (!opened.held) {
    auto names = names_of(opened);
    names.begin_at(opened.remote->beginning());
    opened.held = names.path().shared_folder();
  }
  const auto names = names_of(opened);
  const HasNote has_note = [&](Note note, std::int64_t step) {
    return this->has_note(opened, note, step);
  };
  const bool file_per_step = opened.settings.file_per_step;
  const commit::Left left =
      find_left_file(names, file_per_step, posted, has_note, opened.file->catalogue());
  remove_temporaries(names, file_per_step, posted);
  auto carrier = opener_.go_on_after(opened, left);
  carrier->go_on_after(left, posted.ended, std::move(posted.events), std::move(file));
  const std::size_t blocks =
      Resumption{opened, *carrier, left, link_}.write_again(std::move(posted), has_note);
  opened.local = carrier.get();
  opened.file->carry_with(std::move(carrier));
  const std::string story = *link_.loss() + "; " + std::to_string(blocks) + " blocks of file \"" +
                            opened.file->name() + "\" are written by compute rank " +
                            std::to_string(place_.rank);
  log::error(story);
  link_.journal().note(story);
}

}  // namespace iocomp::client
