// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/own_writes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "array/pieces.h"
#include "array/region.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "disk/output_file.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "staging/arena.h"
#include "writer/writer_file.h"

namespace iocomp::client {
namespace {

std::int64_t place_in_variable(const Block& block) {
  return array::index_of(block.variable.shape, block.region, 0) *
         static_cast<std::int64_t>(block.element_bytes());
}

}  // namespace

OwnWrites::OwnWrites(Setup setup, commit::Publication names, BlockWriter& blocks, Link& link,
                     const contents::Catalogue& catalogue)
    : setup_{std::move(setup)},
      blocks_{blocks},
      link_{link},
      catalogue_{catalogue},
      file_{{.files = setup_.files, .who = {}, .writes_own_blocks = true},
            std::move(names),
            catalogue,
            link.counters(),
            *this} {}

const char* OwnWrites::obstacle(const Block& block) const {
  if (block.bytes() < setup_.least_bytes) {
    return "blocks are short";
  }
  if (waited_for_.contains(block.variable.id)) {
    return "the program waited for their memory";
  }
  if (!array::is_contiguous(block.variable.shape, block.region)) {
    return "blocks are not contiguous in the file";
  }
  if (block.buffered) {
    return "puts are buffered";
  }
  if (!block.is_dense()) {
    return "blocks are not contiguous in memory";
  }
  constexpr auto page = staging::Arena::page_bytes;
  const std::int64_t offset =
      catalogue_.layout().offset(block.variable.id, block.step) + place_in_variable(block);
  if (reinterpret_cast<std::uintptr_t>(block.first_value()) % page !=
      static_cast<std::uintptr_t>(offset) % page) {
    return "memory and file are not aligned alike (iocomp_alloc)";
  }
  return nullptr;
}

bool OwnWrites::takes(const Block& block) {
  const char* const why_not = obstacle(block);
  if (explained_.insert(block.variable.id).second) {
    const std::string of_file =
        "file \"" + file_.files().names().name() + "\", variable \"" + block.variable.name;
    link_.journal().explain(why_not == nullptr
                                ? of_file + "\": by the kernel, blocks of " +
                                      format_bytes(static_cast<std::int64_t>(block.bytes()))
                                : of_file + "\": by servers, " + why_not);
  }
  return why_not == nullptr;
}

void OwnWrites::put(const Block& block) {
  Ticket* ticket = link_.tickets().find(block.ticket);
  ticket->pieces = 1;
  ticket->kept = true;
  const array::Part part{block.region, 0, array::elements(block.region)};
  untold_[block.step].puts.push_back(
      {.variable = block.variable.id, .rank = setup_.rank, .part = part});
  writing_.emplace(block.ticket, block.bytes());
  const auto piece = file_.begin(block.step, part, -1, block.ticket);
  piece->variable = block.variable;
  const Outcome begun = outcome_of([&] {
    piece->offset = file_.files().offset(block.variable.id, block.step);
    auto& writer = file_.files().writer_of(block.step);
    (void)blocks_.write(block, piece, writer, false);
    writer.submit();
  });
  file_.given(piece, true);
  if (!begun.ok()) {
    file_.give_up(piece, begun);
  }
}

// Every block counts, whether it was waited for or not.
void OwnWrites::count_wait(const writer::Given& block, std::size_t bytes) {
  constexpr double pulled_per_second = 4.0 * (1 << 30);  // by a server, about
  constexpr int enough = 2;
  Waits& waits = waits_[block.variable];
  ++waits.blocks;
  waits.bytes += static_cast<double>(bytes);
  if (const auto since = wanted_back_.extract(block.ticket); !since.empty()) {
    waits.seconds += now_seconds() - since.mapped();
  }
  if (waits.blocks >= enough && waits.seconds > waits.bytes / pulled_per_second &&
      waited_for_.insert(block.variable).second) {
    constexpr double milliseconds = 1e3;
    link_.journal().explain(
        "file \"" + file_.files().names().name() + "\", variable \"" +
        catalogue_.variable(block.variable, block.step).name + "\": by servers after step " +
        std::to_string(catalogue_.number(block.step)) + ", because the program waited " +
        std::to_string(static_cast<int>(milliseconds * waits.seconds)) + " ms for the memory of " +
        std::to_string(waits.blocks) + " blocks");
  }
}

void OwnWrites::tell(const writer::Given& block, writer::WriterFile::Became became,
                     const Outcome& outcome) {
  if (const auto bytes = writing_.extract(block.ticket); !bytes.empty()) {
    count_wait(block, bytes.mapped());
  }
  tell_ticket(link_, setup_.key, block, became, outcome);
}

void OwnWrites::report(protocol::Kind kind, const protocol::StepNote& note) {
  if (kind == protocol::Kind::step_done) {
    untold_[note.step].outcome = note.outcome;
  }
}

std::shared_ptr<disk::OutputFile> OwnWrites::finish_without_server() {
  has_server_ = false;
  link_.wait_until([this] { return file_.is_idle(); },
                   [this] {
                     return "the kernel to write blocks of file \"" + file_.files().names().name() +
                            '"';
                   });
  return file_.files().writer(-1).file().hand_over();
}

bool OwnWrites::advance() {
  if (!has_server_) {
    return false;
  }
  bool moved = false;
  if (is_in_a_hurry_ && file_.sync_all()) {
    is_in_a_hurry_ = false;
    moved = true;
  }
  moved = file_.advance() || moved;
  return tell_server() || moved;
}

// Tells the server of a step once, when nothing of it is owed any more.
bool OwnWrites::tell_server() {
  bool any = false;
  for (auto step = untold_.begin(); step != untold_.end();) {
    const std::int64_t number = step->first;
    if (!step->second.outcome || !link_.has_credit(setup_.home)) {  // this comes from waiting
      ++step;
      continue;
    }
    const Outcome outcome = *step->second.outcome;
    auto message =
        protocol::encode(setup_.key, protocol::Kind::own_written,
                         protocol::OwnWritten{number, outcome, std::move(step->second.puts)});
    step = untold_.erase(step);
    file_.settle(number, outcome);
    link_.post(setup_.home, std::move(message));
    any = true;
  }
  return any;
}

}  // namespace iocomp::client
