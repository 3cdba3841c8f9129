// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "steps/covers.h"
#include "steps/ended.h"
#include "steps/predecessors.h"
#include "steps/put_log.h"
#include "transport/transport.h"

namespace iocomp::client {

/// All that a rank has told servers of a file, as far as that is not known to be written or
/// committed. Somebody else can finish the file with it.
struct Posted {
  struct Piece {
    contents::Variable variable;
    std::int64_t step = 0;
    array::Region region;
    std::int64_t first = 0;  ///< element of the packed order of the region
    std::int64_t count = 0;
    std::uint64_t ticket = 0;
    transport::PostId post = 0;
    std::span<const std::byte> bytes{};             ///< until the post is taken; otherwise `packed`
    std::optional<transport::StridedBytes> rows{};  ///< instead of `bytes`
    /// The values of `rows`, put together to be written again.
    std::vector<std::byte> packed{};
    Copy copy{};  ///< the copy that `bytes` lie in
  };
  struct Step {
    steps::Covers variables;
    steps::PutLog puts;  ///< the puts that were summed
    std::vector<steps::PutSum> sums{};
    steps::Predecessors predecessors{};
    bool ended = false;
    std::int64_t events = 0;  ///< number made before the end
    Outcome failure;
  };
  std::vector<std::vector<std::byte>> events;  ///< definitions, encoded
  std::int64_t ended = 0;
  /// Number of steps known to be settled; the last of them is committed.
  std::int64_t committed = 0;
  std::map<std::int64_t, Outcome> failed;  ///< of the steps that this rank knows as settled
  std::map<std::int64_t, Step> steps;
  std::vector<Piece> pieces;
  std::vector<std::uint64_t> in_headers;  ///< tickets of blocks that servers have to the last byte
};

/// Keeps what one rank has posted of one file. It forgets what the servers have written or
/// committed.
class PostBook {
 public:
  PostBook(std::uint64_t file, int rank, Link& link) : file_{file}, rank_{rank}, link_{link} {}

  void define(const contents::Event& event);
  /// Note a block that is on its way. Do not call it earlier: if the servers are lost before, the
  /// block is put again.
  void put(const Block& block);
  /// Keep the posted pieces of a block.
  void keep(std::vector<Posted::Piece> pieces);
  /// Values of this block travelled in headers, so only its servers have them now.
  void keep_header(std::uint64_t ticket);
  void end_step(std::int64_t step, const StepEnd& end);

  [[nodiscard]] Posted take();

 private:
  void forget_written();
  void forget_if_many();
  void forget_settled();

  std::uint64_t file_;
  int rank_;  // compute rank
  Link& link_;
  Posted posted_;
  std::int64_t next_settled_ = 0;  // the first step that posted_ was not told of
  std::size_t next_look_ = 0;      // the next look at it: when there are so many pieces
};

}  // namespace iocomp::client
