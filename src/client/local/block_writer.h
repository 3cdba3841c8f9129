// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>

#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"
#include "disk/options.h"
#include "writer/writer_file.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::client {

/// The state of a block after it was given to a writer.
struct GivenBlock {
  bool is_lent = false;   ///< the program's memory is read until the block is written
  bool is_begun = false;  ///< this rank writes something now, the block or full stripes
};

/// Gives blocks of this rank to writers of files. They are written straight from the program's
/// memory if that can be written as it lies, otherwise from a copy. Short runs go into stripes, if
/// the writer has any. One per session.
class BlockWriter {
 public:
  BlockWriter(const disk::Options& disk, Link& link) : disk_{disk}, link_{link} {}

  /// Give a block to the writer, whose `submit` the caller calls later. May wait for memory for a
  /// copy.
  /// @param piece  of the writer: the whole block, with its variable and the place of that.
  /// @param joins  false if nothing may wait in stripes any more.
  GivenBlock write(const Block& block, const std::shared_ptr<writing::Piece>& piece,
                   writing::FileWriter& writer, bool joins);
  /// Give elements of a block to the writer as they are, in their packed order. They are copied if
  /// they lie otherwise, or must be changed. Waits for nothing.
  static GivenBlock write_packed(const Block& block, const std::shared_ptr<writing::Piece>& piece,
                                 writing::FileWriter& writer, std::int64_t first,
                                 std::int64_t count);
  /// True if `write_packed` copies.
  [[nodiscard]] static bool copies_packed(const Block& block, const writing::FileWriter& writer) {
    return writer.swaps_bytes() || !block.is_dense() || block.variable.kept_bits > 0;
  }

 private:
  class Cutter;
  [[nodiscard]] Copy take_memory(std::size_t bytes, std::size_t page_remainder,
                                 writing::FileWriter& writer);
  void look_at_pages(std::span<const std::byte> memory);

  disk::Options disk_;
  Link& link_;
  std::set<const std::byte*> looked_at_;  // first bytes of arrays
};

/// Note in the ticket of a block what became of it.
void tell_ticket(Link& link, std::uint64_t file, const writer::Given& block,
                 writer::WriterFile::Became became, const Outcome& outcome);

}  // namespace iocomp::client
