// SPDX-License-Identifier: BSD-3-Clause
#include "writing/piece.h"

#include <cstdint>
#include <memory>

#include "array/runs.h"
#include "base/error.h"

namespace iocomp::writing {

void end(const std::shared_ptr<Piece>& piece, std::int64_t elements, const Outcome& outcome) {
  if (piece->failure.ok()) {
    piece->failure = outcome;
  }
  piece->elements_left -= elements;
  if (piece->elements_left == 0 && piece->ended) {
    piece->ended(piece);
  }
}

void end(Chunk chunk, const Outcome& outcome) {
  chunk.free_memory();
  end(chunk.piece, chunk.count, outcome);
}

std::int64_t index_of(const Piece& piece, std::int64_t element) {
  array::RunCursor cursor{piece.variable.shape, piece.region, element, 1};
  array::Run run;
  return cursor.next(run) ? run.index : 0;
}

array::Run first_run(const Chunk& chunk) {
  const Piece& piece = *chunk.piece;
  array::RunCursor runs{piece.variable.shape, piece.region, chunk.first, chunk.count};
  array::Run first;
  (void)runs.next(first);
  return first;
}

}  // namespace iocomp::writing
