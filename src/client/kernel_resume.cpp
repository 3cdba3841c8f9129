// How a compute rank takes a file over from servers that were given up. Nothing on disk changes
// meanwhile: servers do nothing more, and rank 0 publishes nothing before every rank is here.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/memory_box.h"
#include "base/error.h"
#include "client/kernel_carrier.h"
#include "client/link.h"
#include "client/remains.h"
#include "client/tickets.h"
#include "commit/published.h"
#include "protocol/notes.h"

namespace iocomp::client {

using protocol::Note;

std::size_t KernelCarrier::resume(Remains remains, const HasNote& has_note) {
  definitions_ = remains.definitions;
  last_definition_ = remains.last_definition;
  ended_ = remains.ended;
  const std::int64_t settled =
      per_step_ ? find_checkpoints(remains, has_note) : find_published_steps(remains);
  settled_ = agreed_ = next_sync_ = placed_until_ = settled;
  take_over_steps(remains, settled, has_note);
  std::map<std::uint64_t, std::vector<Remains::Piece>> pieces;
  for (auto& piece : remains.pieces) {
    if (piece.step >= settled) {
      piece.copy = link_.take_copy(piece.post);
      pieces[piece.ticket].push_back(std::move(piece));
    }
  }
  take_over_tickets(pieces, settled);
  const std::size_t blocks = pieces.size();
  for (auto& [ticket, its_pieces] : pieces) {
    write_again(ticket, std::move(its_pieces));
  }
  return blocks;
}

// The manifest tells which steps are committed, once the file has its final name.
std::int64_t KernelCarrier::find_published_steps(const Remains& remains) {
  const auto names = publication_.names(-1);
  const auto found = commit::read_published(names);
  if (!found.has_temporary && !found.has_target) {
    throw Error{ErrorCode::storage_failure,
                "neither " + names.temporary + " nor " + names.target + " is there any more"};
  }
  files_.go_on_in(found.has_temporary ? names.temporary : names.target);
  publication_.go_on_after(found.steps, found.absent, !found.has_temporary);
  std::map<std::string, int> numbers;
  for (int variable = 0; variable < catalogue_.variables(); ++variable) {
    numbers[catalogue_.variable(variable, remains.ended).name] = variable;
  }
  for (const auto& [step, name] : found.variables) {
    if (const auto number = numbers.find(name); number != numbers.end()) {
      files_.note_contents(number->second, step);
    }
  }
  for (const auto step : found.absent) {
    const auto known = remains.steps.find(step);
    failed_.emplace(step, known != remains.steps.end() && !known->second.failure.ok()
                              ? known->second.failure
                              : in_file({ErrorCode::storage_failure, "the step failed"}, step));
  }
  return found.steps;
}

// A file of an earlier run may have the name of a step that was not committed yet: the servers have
// noted what they were about to publish.
std::int64_t KernelCarrier::find_checkpoints(const Remains& remains, const HasNote& has_note) {
  const auto is_committed = [&](std::int64_t step) {
    const auto found = commit::look_at(publication_.names(step));
    return has_note(Note::publishing, step) && found.has_target && !found.has_temporary;
  };
  std::int64_t settled = remains.committed;
  for (std::int64_t step = remains.ended; step >= remains.committed; --step) {
    if (is_committed(step)) {
      settled = step + 1;
      break;
    }
  }
  std::deque<std::int64_t> kept;
  for (std::int64_t step = settled - 1; step >= 0 && kept.size() < publication_.keeps(); --step) {
    if (commit::look_at(publication_.names(step)).has_target && !has_note(Note::dropped, step)) {
      kept.push_front(step);
    }
  }
  publication_.go_on_after(std::move(kept));
  for (std::int64_t step = remains.committed; step < settled; ++step) {
    if (has_note(Note::dropped, step)) {
      failed_.emplace(step, in_file({ErrorCode::storage_failure, "the step failed"}, step));
    }
  }
  return settled;
}

void KernelCarrier::take_over_steps(Remains& remains, std::int64_t settled,
                                    const HasNote& has_note) {
  for (auto& [number, left] : remains.steps) {
    if (number < settled) {
      continue;
    }
    Step& step = steps_[number];
    step.variables = std::move(left.variables);
    holes_.take_over(number, std::move(left.puts));
    step.ended = left.ended;
    step.definitions = left.definitions;
    step.last_definition = std::move(left.last_definition);
    step.known_variables = left.known_variables;
    step.failure = left.failure;
    if (per_step_ && step.failure.ok() && has_note(Note::dropped, number)) {
      step.failure = in_file({ErrorCode::storage_failure, "the step failed"}, number);
    }
    if (!step.variables.empty() && step.failure.ok()) {
      // What a server has written for this rank is made durable through this rank's descriptor.
      (void)files_.at(publication_.target_of(number)).open();
    }
  }
}

void KernelCarrier::take_over_tickets(
    const std::map<std::uint64_t, std::vector<Remains::Piece>>& pieces, std::int64_t settled) {
  std::vector<std::uint64_t> done;
  link_.tickets().for_each([&](std::uint64_t number, Ticket& ticket) {
    if (ticket.file != setup_.key) {
      return;
    }
    ticket.posts.clear();
    if (ticket.step < settled && !failed_.contains(ticket.step)) {
      ticket.written = ticket.durable = ticket.pieces;
      done.push_back(number);
    } else if (ticket.step < settled) {
      ticket.failure = ticket.failure.ok() ? failed_.at(ticket.step) : ticket.failure;
    } else if (!ticket.failure.ok()) {
      Step& step = steps_[ticket.step];
      step.failure = step.failure.ok() ? ticket.failure : step.failure;
    } else if (ticket.pieces > 0 && ticket.written == ticket.pieces) {
      steps_[ticket.step].tickets.push_back(number);
    } else if (!pieces.contains(number)) {
      ticket.pieces = ticket.written = ticket.durable = 0;  // its put will be made again
    }
  });
  std::ranges::for_each(done, [this](auto number) { link_.tickets().settle(number); });
}

// A piece that no server has taken lies where it was, or in a copy. One that was taken and is not
// known to be written went with its server.
void KernelCarrier::write_again(std::uint64_t number, std::vector<Remains::Piece> pieces) {
  struct Part {
    Block block;
    std::int64_t first;
    std::int64_t count;
    std::span<const std::byte> bytes;
  };
  auto held = std::make_shared<std::vector<Remains::Piece>>(std::move(pieces));
  std::vector<Part> parts;
  Block block;
  Outcome failure;
  for (auto& piece : *held) {
    const bool is_copied = !piece.inside.empty();
    const bool is_lost = piece.count > 0 && !is_copied && link_.is_taken(piece.post);
    if (piece.rows && !is_lost) {
      const auto& rows = *piece.rows;
      piece.inside.resize(rows.bytes());
      array::pack(rows.memory, rows.element_bytes, rows.array, rows.first, rows.count,
                  piece.inside.data());
    }
    block.variable = piece.variable;
    block.step = piece.step;
    block.region = piece.region;
    block.ticket = number;
    if (is_lost) {
      failure = {ErrorCode::storage_failure,
                 *link_.loss() + " when it had taken the block and not written it"};
    } else if (piece.count > 0) {
      parts.push_back(
          {block, piece.first, piece.count,
           piece.inside.empty() ? piece.bytes : std::span<const std::byte>{piece.inside}});
    }
  }
  Ticket& ticket = *link_.tickets().find(number);
  ticket.kept = true;
  ++steps_[block.step].writing;
  auto left = std::make_shared<std::size_t>(parts.size() + 1);
  auto first_failure = std::make_shared<Outcome>();
  const auto done = [this, here = is_here_, held, left, first_failure, block](const Outcome& one) {
    *first_failure = first_failure->ok() ? one : *first_failure;
    if (--*left == 0 && *here) {
      block_written(block, *first_failure);
    }
  };
  auto& writer = files_.writer(publication_.target_of(block.step));
  for (const auto& part : parts) {
    writing::Chunk chunk;
    chunk.piece = piece_of(part.block, files_.offset(block.variable.id, block.step), done);
    chunk.piece->first = part.first;
    chunk.piece->elements_left = part.count;
    chunk.piece->is_in_file_order = true;
    chunk.first = part.first;
    chunk.count = part.count;
    chunk.bytes = part.bytes;
    writer.write(std::move(chunk));
  }
  writer.submit();
  done(failure);
}

}  // namespace iocomp::client
