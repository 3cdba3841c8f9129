// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>

#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"
#include "disk/options.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::client {

/// What became of a block that was given to a writer.
struct GivenBlock {
  bool is_lent = false;   ///< the program's memory is read until the block is written
  bool is_begun = false;  ///< this rank writes something now: of the block, or full stripes
  std::shared_ptr<writing::Piece> joined;  ///< the block, where it was put into stripes
};

/// Gives blocks of this rank to writers of files: straight from the program's memory where that can
/// be written as it lies, else from a copy. Short runs go into stripes, where the writer has these.
/// One per session.
class BlockWriter {
 public:
  /// Called when all of a block is written, or cannot be.
  using Done = std::function<void(const Outcome&)>;

  BlockWriter(const disk::Options& disk, Link& link) : disk_{disk}, link_{link} {}

  /// Give a block to the writer, which is to be told when to `submit` it. Its variable begins at
  /// `offset` of the file. May wait for memory for a copy.
  /// @param joins  false where nothing may wait in stripes any more.
  GivenBlock write(const Block& block, writing::FileWriter& writer, std::int64_t offset, bool joins,
                   Done done);

 private:
  class Cutter;
  [[nodiscard]] Copy take_memory(std::size_t bytes, std::size_t page_remainder,
                                 writing::FileWriter& writer);
  void look_at_pages(std::span<const std::byte> memory);

  disk::Options disk_;
  Link& link_;
  std::set<const std::byte*> looked_at_;  // first bytes of arrays
};

/// All elements of a block as a writer takes them.
[[nodiscard]] std::shared_ptr<writing::Piece> piece_of(const Block& block, std::int64_t offset,
                                                       BlockWriter::Done done);

}  // namespace iocomp::client
