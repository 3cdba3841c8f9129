// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/block_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/runs.h"
#include "base/bug.h"
#include "base/byte_size.h"
#include "base/free_ranges.h"
#include "base/log.h"
#include "base/pages.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/local/copy_memory.h"
#include "client/tickets.h"
#include "disk/options.h"
#include "trace/counters.h"
#include "writing/file_writer.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::client {
namespace {

constexpr std::size_t page = FreeRanges::page_bytes;
// A long run is copied in parts. They grow, so that the disk soon has something to write.
constexpr std::size_t first_part_bytes = std::size_t{2} << 20;
constexpr std::size_t last_part_bytes = std::size_t{16} << 20;
constexpr std::size_t large_array_bytes = std::size_t{8} << 20;
constexpr std::size_t short_runs_bytes = std::size_t{4} << 20;  // of short runs copied at once
constexpr std::size_t packed_bytes = std::size_t{256} << 10;    // on the way into a stripe

// Runs of at least this length are worth a copy that is aligned as the file is. They go past the
// page cache, if the file allows it.
std::size_t long_run_bytes(const disk::Options& disk, writing::FileWriter& writer) {
  const auto& file = writer.file().opened();
  const bool takes_direct = disk.direct != disk::Direct::off && (!file || file->takes_direct());
  return takes_direct ? disk.direct_from_bytes : std::numeric_limits<std::size_t>::max();
}

}  // namespace

/// Cuts one block into chunks. Each run of the file is written from where it lies, or from a copy
/// that is aligned as its place in the file is.
class BlockWriter::Cutter {
 public:
  Cutter(BlockWriter& blocks, const Block& block, writing::FileWriter& writer,
         std::shared_ptr<writing::Piece> piece)
      : blocks_{blocks},
        block_{block},
        writer_{writer},
        piece_{std::move(piece)},
        long_bytes_{long_run_bytes(blocks.disk_, writer)},
        can_lend_{block.is_dense() &&
                  (!block.buffered || block.copy || has_bug(Bug::buffered_not_copied)) &&
                  !writer.swaps_bytes() && block.variable.kept_bits == 0} {
    piece_->is_in_file_order = true;
  }

  GivenBlock cut(bool joins) {
    const std::int64_t elements = array::elements(block_.region);
    if (joins && writer_.stripes() != nullptr) {
      writer_.stripes()->choose(*piece_, 0, array::elements(block_.variable.shape));
    }
    if (piece_->is_joined()) {
      join(elements);
    } else {
      add_runs(0, elements);
    }
    pass_on();
    return given_;
  }

 private:
  // Joins one stripe at a time. Elements that find no room in stripes are written like long runs.
  void join(std::int64_t elements) {
    for (std::int64_t first = 0; first < elements;) {
      const std::int64_t count =
          std::min(elements - first, writing::elements_in_stripe(*piece_, first));
      wait_for_room(first);
      const std::int64_t joined = put_in(first, count);
      add_runs(first + joined, count - joined);
      first += count;
    }
  }

  // Waits only for memory that this rank's own writes give back. Other ranks may wait for this one.
  void wait_for_room(std::int64_t first) {
    writing::Stripes& stripes = *writer_.stripes();
    const auto is_over = [&] {
      return stripes.has_room(*piece_, first) || !stripes.will_have_room();
    };
    if (!is_over()) {
      const trace::Timer timer{blocks_.link_.counters(), trace::Counter::buffer_wait_seconds};
      blocks_.link_.wait_until(is_over, [] {
        return std::string{
            "stripes of earlier blocks to be written (client.buffer_memory is full)"};
      });
    }
  }

  // @return the number of elements that have found room.
  std::int64_t put_in(std::int64_t first, std::int64_t count) {
    const std::size_t element = block_.element_bytes();
    const bool lies_packed = block_.is_dense();
    const std::int64_t most =
        lies_packed ? count : static_cast<std::int64_t>(packed_bytes / element);
    std::int64_t joined = 0;
    while (joined < count) {
      writing::Chunk chunk;
      chunk.piece = piece_;
      chunk.first = first + joined;
      chunk.count = std::min(most, count - joined);
      const std::int64_t before = chunk.count;
      const auto bytes = static_cast<std::size_t>(before) * element;
      if (lies_packed) {
        chunk.bytes = {block_.first_value() + static_cast<std::size_t>(chunk.first) * element,
                       bytes};
      } else {
        packed_.resize(std::max(packed_.size(), bytes));
        chunk.bytes = std::span{packed_}.first(bytes);
        block_.copy_to(std::span{packed_}.first(bytes), chunk.first, before, false);
      }
      given_.is_begun = writer_.join(chunk) || given_.is_begun;
      blocks_.link_.counters().add(
          trace::Counter::copied_bytes,
          static_cast<double>(static_cast<std::size_t>(before - chunk.count) * element));
      joined += before - chunk.count;
      if (chunk.count > 0) {
        break;
      }
    }
    return joined;
  }

  void add_runs(std::int64_t first, std::int64_t count) {
    array::RunCursor runs{block_.variable.shape, block_.region, first, count};
    array::Run run;
    while (runs.next(run)) {
      add(piece_->offset + run.index * piece_->element_bytes(), first, run.elements);
      first += run.elements;
    }
  }

  void add(std::int64_t offset, std::int64_t first, std::int64_t count) {
    if (gathered_.first + gathered_.count != first) {
      pass_on();  // elements in between are in stripes
    }
    const std::size_t bytes = static_cast<std::size_t>(count) * block_.element_bytes();
    const bool is_long = bytes >= long_bytes_;
    if (can_lend_) {
      const std::byte* from =
          block_.first_value() + static_cast<std::size_t>(first) * block_.element_bytes();
      const auto address = reinterpret_cast<std::uintptr_t>(from);
      if (!is_long || address % page == static_cast<std::uintptr_t>(offset) % page) {
        lend(first, count, {from, bytes});
        return;
      }
    }
    blocks_.link_.counters().add(trace::Counter::copied_bytes, static_cast<double>(bytes));
    is_long ? copy_long(offset, first, count) : copy_short(first, count);
  }

  void lend(std::int64_t first, std::int64_t count, std::span<const std::byte> memory) {
    if (block_.copy == nullptr) {
      blocks_.look_at_pages(memory);
      blocks_.link_.counters().add(trace::Counter::lent_bytes, static_cast<double>(memory.size()));
      given_.is_lent = true;
    }
    if (gathered_.count == 0) {
      gathered_.first = first;
      gathered_.bytes = memory.first(0);
      gathered_.loan = blocks_.link_.copies().needed_for_disk(block_.copy);
    }
    gathered_.count += count;  // dense: behind what was lent before
    gathered_.bytes = {gathered_.bytes.data(), gathered_.bytes.size() + memory.size()};
  }

  void copy_long(std::int64_t offset, std::int64_t first, std::int64_t count) {
    pass_on();
    const std::size_t element = block_.element_bytes();
    while (count > 0) {
      const auto most = std::min(part_bytes_, blocks_.link_.copies().limit_bytes() / 4) / element;
      part_bytes_ = std::min(2 * part_bytes_, last_part_bytes);
      const auto now = std::min(count, std::max<std::int64_t>(static_cast<std::int64_t>(most), 1));
      const std::size_t bytes = static_cast<std::size_t>(now) * element;
      const std::size_t skew = static_cast<std::size_t>(offset) % page;
      const Copy copy = blocks_.take_memory(bytes, skew, writer_);
      const std::span<std::byte> to{copy.get(), bytes};
      block_.copy_to(to, first, now, writer_.swaps_bytes());
      gathered_.first = first;
      gathered_.count = now;
      gathered_.bytes = gathered_.own_bytes = to;
      gathered_.loan = copy;
      pass_on();
      offset += static_cast<std::int64_t>(bytes);
      first += now;
      count -= now;
    }
  }

  void copy_short(std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * block_.element_bytes();
    if (gathered_.bytes.size() + bytes > memory_.size()) {
      pass_on();
      const std::size_t left =
          static_cast<std::size_t>(array::elements(block_.region) - first) * block_.element_bytes();
      const std::size_t most = std::min(short_runs_bytes, blocks_.link_.copies().limit_bytes() / 4);
      const std::size_t all = std::max(bytes, std::min(left, most));
      const Copy copy = blocks_.take_memory(all, 0, writer_);
      memory_ = {copy.get(), all};
      gathered_.loan = copy;
      gathered_.first = first;
    }
    gathered_.count += count;  // in the packed order behind what comes before: copied together
    gathered_.bytes = gathered_.own_bytes = memory_.first(gathered_.bytes.size() + bytes);
  }

  void pass_on() {
    if (gathered_.count > 0) {
      if (!memory_.empty()) {
        block_.copy_to(gathered_.own_bytes, gathered_.first, gathered_.count,
                       writer_.swaps_bytes());
      }
      gathered_.piece = piece_;
      given_.is_begun = true;
      writer_.write_alone(std::exchange(gathered_, {}));
      memory_ = {};
    }
  }

  BlockWriter& blocks_;
  const Block& block_;
  writing::FileWriter& writer_;
  std::shared_ptr<writing::Piece> piece_;
  std::size_t long_bytes_;
  bool can_lend_;
  GivenBlock given_;
  writing::Chunk gathered_;
  std::size_t part_bytes_ = first_part_bytes;
  std::span<std::byte> memory_;  // of short runs that will be copied into it
  std::vector<std::byte> packed_;
};

GivenBlock BlockWriter::write(const Block& block, const std::shared_ptr<writing::Piece>& piece,
                              writing::FileWriter& writer, bool joins) {
  if (piece->elements_left == 0) {
    writing::end(piece, 0);
    return {};
  }
  return Cutter{*this, block, writer, piece}.cut(joins);
}

GivenBlock BlockWriter::write_packed(const Block& block,
                                     const std::shared_ptr<writing::Piece>& piece,
                                     writing::FileWriter& writer, std::int64_t first,
                                     std::int64_t count) {
  piece->is_in_file_order = true;
  const std::size_t element = block.element_bytes();
  const auto bytes = static_cast<std::size_t>(count) * element;
  writing::Chunk chunk;
  chunk.piece = piece;
  chunk.first = first;
  chunk.count = count;
  const bool copies = copies_packed(block, writer);
  if (copies) {
    const auto packed = std::make_shared<std::vector<std::byte>>(bytes);
    block.copy_to(*packed, first, count, writer.swaps_bytes());
    chunk.bytes = chunk.own_bytes = *packed;
    chunk.loan = packed;
  } else {
    chunk.bytes = {block.first_value() + static_cast<std::size_t>(first) * element, bytes};
    chunk.loan = block.copy;
  }
  writer.write(std::move(chunk));
  return {.is_lent = !copies && block.copy == nullptr, .is_begun = true};
}

Copy BlockWriter::take_memory(std::size_t bytes, std::size_t page_remainder,
                              writing::FileWriter& writer) {
  CopyMemory& copies = link_.copies();
  Copy copy = copies.try_take_for_disk(bytes, page_remainder);
  if (!copy) {
    writer.submit();  // copies wait there for others
    const trace::Timer timer{link_.counters(), trace::Counter::buffer_wait_seconds};
    link_.wait_until(
        [&] { return (copy = copies.try_take_for_disk(bytes, page_remainder)) != nullptr; },
        [] {
          return std::string{
              "copies of earlier blocks to be written (client.buffer_memory is full)"};
        });
  }
  return copy;
}

void tell_ticket(Link& link, std::uint64_t file, const writer::Given& block,
                 writer::WriterFile::Became became, const Outcome& outcome) {
  Ticket* const ticket = link.tickets().find(block.ticket);
  if (became == writer::WriterFile::Became::durable) {
    if (ticket != nullptr) {
      ticket->durable = ticket->pieces;
      link.tickets().settle(block.ticket);
    }
    return;
  }
  if (ticket != nullptr) {
    ticket->kept = false;
    ticket->lent = {};
    link.ledger().tell_hand_over(block.ticket);
  }
  if (became == writer::WriterFile::Became::failed) {
    link.ledger().fail(file, block.ticket, outcome);
  } else if (ticket != nullptr && ticket->failure.ok()) {
    ticket->written = ticket->pieces;
  }
}

// Looks at each array once, and only at a few, because it costs a millisecond.
void BlockWriter::look_at_pages(std::span<const std::byte> memory) {
  constexpr std::size_t most_arrays = 8;
  if (memory.size() < large_array_bytes || looked_at_.size() >= most_arrays ||
      !looked_at_.insert(memory.data()).second) {
    return;
  }
  const std::size_t small = small_page_bytes(memory);
  link_.counters().add(trace::Counter::small_page_bytes, static_cast<double>(small));
  if (small > memory.size() / 2) {
    log::info("an array of " + format_bytes(static_cast<std::int64_t>(memory.size())) +
              " lies in small pages, which takes the kernel several times as long to write as huge "
              "ones: iocomp_alloc gives such memory");
  }
}

}  // namespace iocomp::client
