// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/exchange/exchange.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/kept_blocks.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "disk/options.h"
#include "trace/counters.h"
#include "writer/output_files.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::client {

/// Writes a synchronous file on one rank. When a call returns, its blocks are in the file, or with
/// the library that writes it.
class WaitingWrites {
 public:
  /// @param disk  options for writing the files.
  /// @param exchange  null: no blocks are exchanged.
  /// @param keeps  the library reads the memory of blocks until their step is written.
  WaitingWrites(writer::OutputFiles& files, const disk::Options& disk,
                const contents::Catalogue& catalogue, Link& link,
                std::unique_ptr<Exchange> exchange, bool keeps);

  /// Write a block. Its piece is told what became of it.
  void write(const KeptBlocks::Kept& kept);
  /// Write all that the writer was given.
  static void finish(writing::FileWriter& writer);

  /// True if a block is better exchanged with other ranks than written run by run.
  [[nodiscard]] bool exchanges(const Block& block) const noexcept;
  /// Write such blocks of one step. Collective over the file's ranks. @return the first failure of
  /// a write on this rank. @throws Error{timed_out}.
  [[nodiscard]] Outcome exchange(std::int64_t step, const std::vector<const Block*>& blocks);

 private:
  void write_whole(const KeptBlocks::Kept& kept, writing::FileWriter& writer);
  void write_elements(std::int64_t step, const contents::Variable& variable, std::int64_t index,
                      std::span<std::byte> bytes);

  writer::OutputFiles& files_;
  BlockWriter blocks_;
  const contents::Catalogue& catalogue_;
  trace::Counters& counters_;
  std::unique_ptr<Exchange> exchange_;
  bool keeps_;
};

}  // namespace iocomp::client
