// SPDX-License-Identifier: BSD-3-Clause
#include "writing/library_output.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "formats/write_region.h"
#include "writing/piece.h"

namespace iocomp::writing {
namespace {

constexpr std::int64_t slice_bytes = std::int64_t{8} << 20;
constexpr int chunks_per_slice = 64;

}  // namespace

void LibraryOutput::advance() {
  if (pace_) {
    pace_->wait();
  }
  const double begin = now_seconds();
  const std::int64_t step = queue_.front().piece->step;
  const std::int64_t most = pace_ ? std::min(slice_bytes, pace_->slice_bytes()) : slice_bytes;
  std::int64_t left = most;
  for (int i = 0; i < chunks_per_slice && left > 0 && has_work(); ++i) {
    left -= write_front(left);
  }
  file_.recorder()(trace::What::write, begin, {.step = step, .bytes = most - left});
  if (pace_) {
    pace_->wrote(most - left);
  }
}

// Returns the number of bytes that were written.
std::int64_t LibraryOutput::write_front(std::int64_t most_bytes) {
  Chunk& chunk = queue_.front();
  Piece& piece = *chunk.piece;
  const std::int64_t element = piece.element_bytes();
  const std::int64_t now = std::min(chunk.count, std::max<std::int64_t>(1, most_bytes / element));
  const auto bytes = chunk.bytes.first(static_cast<std::size_t>(now * element));
  Outcome outcome = piece.failure;
  if (outcome.ok()) {
    outcome = outcome_of([&] {
      (void)file_.open();  // what will be fsynced is held open from before the first write
      formats::write_region(*file_.shared(), {piece.step, piece.variable, piece.offset},
                            piece.region, chunk.first, now, bytes);
    });
  }
  if (outcome.ok() && now < chunk.count) {
    chunk.bytes = chunk.bytes.subspan(bytes.size());
    chunk.first += now;
    chunk.count -= now;
    piece.elements_left -= now;
  } else {
    Chunk done = std::move(chunk);
    queue_.pop_front();
    end(std::move(done), outcome);
  }
  return std::ssize(bytes);
}

}  // namespace iocomp::writing
