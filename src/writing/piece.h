// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "array/element_type.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/error.h"
#include "contents/variable.h"
#include "staging/arena.h"

namespace iocomp::writing {

/// Elements of a variable that are written in one step and answered for together.
struct Piece {
  std::int64_t step = 0;
  contents::Variable variable;
  array::Region region;
  std::int64_t first = 0;          ///< first element in the packed order of the region
  std::int64_t elements_left = 0;  ///< elements that are not written yet
  std::int64_t offset = -1;        ///< of the variable in the physical file; -1: the format knows
  bool is_in_file_order = false;   ///< its bytes are in the order of the file already
  bool is_rounded = false;         ///< its values are rounded as the file keeps them already
  Outcome failure;                 ///< the first failure of any part
  /// Called once, when nothing is left to write: all of it is in the file, or `failure` says why
  /// not.
  std::function<void(const std::shared_ptr<Piece>&)> ended;

  // For a piece that is put together with others: the part of the variable that this process
  // writes, and the length of its stripes, in elements.
  std::int64_t domain_begin = 0;
  std::int64_t domain_end = 0;
  std::int64_t stripe_elements = 0;
  /// Elements among those left that are in stripes which are not full, or which another process
  /// writes.
  std::int64_t elements_with_others = 0;
  [[nodiscard]] bool is_joined() const noexcept { return stripe_elements > 0; }
  bool is_fill = false;   ///< it joins only stripes that are there
  bool is_blank = false;  ///< it need not be written: it only makes stripes full

  /// The notes of its giver. The writer tells them to the timeline, and does not look at them
  /// otherwise.
  struct Giver {
    int rank = -1;
    std::uint64_t ticket = 0;
    std::int64_t elements_to_come = 0;  ///< not given to the writer yet
    bool is_told = false;               ///< that the piece has failed
  };
  Giver giver;

  [[nodiscard]] std::int64_t element_bytes() const noexcept {
    return static_cast<std::int64_t>(array::size_bytes(variable.type));
  }
};

/// A part of a piece in memory: elements `first` to `first + count` of the packed order of the
/// region.
struct Chunk {
  std::shared_ptr<Piece> piece;
  std::int64_t first = 0;
  std::int64_t count = 0;
  staging::Lease lease;
  std::shared_ptr<const staging::Lease> row;  ///< or memory shared with its neighbours
  std::shared_ptr<const void> loan;           ///< or memory of others, given back at the end
  /// The bytes there; empty if the chunk was only drained.
  std::span<const std::byte> bytes;
  std::span<std::byte> own_bytes;  ///< the same, if they may be changed

  /// The bytes are no longer needed.
  void free_memory() {
    loan.reset();  // first: it may say what became of the lease
    lease = {};
    row.reset();
  }
};

/// So many elements of a piece are written, or given up with this failure.
void end(const std::shared_ptr<Piece>& piece, std::int64_t elements, const Outcome& outcome = {});
/// The same for a chunk, whose memory becomes free.
void end(Chunk chunk, const Outcome& outcome = {});

/// The index, in its variable, of an element in the packed order of a piece.
[[nodiscard]] std::int64_t index_of(const Piece& piece, std::int64_t element);
/// The first part of a chunk that is contiguous in the variable.
[[nodiscard]] array::Run first_run(const Chunk& chunk);

}  // namespace iocomp::writing
