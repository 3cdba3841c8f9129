// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "client/tickets.h"
#include "contents/variable.h"
#include "disk/output_file.h"
#include "steps/covers.h"
#include "steps/ended.h"
#include "steps/predecessors.h"
#include "steps/put_log.h"
#include "transport/transport.h"

namespace iocomp::client {

/// All that somebody else needs to finish a file when its servers are given up: what a rank has
/// said of the file, and which parts are not known to be written.
struct Remains {
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
  /// The descriptors of the file of all steps, if this rank has had it open.
  std::shared_ptr<disk::OutputFile> file{};
  std::vector<std::uint64_t> in_headers;  ///< tickets of blocks that servers have to the last byte
};

}  // namespace iocomp::client
