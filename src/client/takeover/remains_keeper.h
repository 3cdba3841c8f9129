// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/carrier.h"
#include "client/link.h"
#include "client/takeover/remains.h"
#include "contents/catalogue.h"

namespace iocomp::client {

/// Keeps the remains of one file on one rank, so that the file can be finished without servers. It
/// forgets what the servers have written or committed.
class RemainsKeeper {
 public:
  RemainsKeeper(std::uint64_t file, int rank, Link& link) : file_{file}, rank_{rank}, link_{link} {}

  void define(const contents::Event& event);
  /// Note a block that is on its way. Do not call it earlier: if the servers are lost before, the
  /// block is put again.
  void put(const Block& block);
  /// Keep the posted pieces of a block.
  void keep(std::vector<Remains::Piece> pieces);
  /// Values of this block travelled in headers, so only its servers have them now.
  void keep_header(std::uint64_t ticket);
  void end_step(std::int64_t step, const StepEnd& end);

  [[nodiscard]] Remains take();

 private:
  void forget_written();
  void forget_if_many();
  void forget_settled();

  std::uint64_t file_;
  int rank_;  // compute rank
  Link& link_;
  Remains remains_;
  std::int64_t next_settled_ = 0;  // the first step that remains_ was not told of
  std::size_t next_look_ = 0;      // next look at remains: when there are so many pieces
};

}  // namespace iocomp::client
