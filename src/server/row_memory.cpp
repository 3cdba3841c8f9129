// SPDX-License-Identifier: BSD-3-Clause
#include "server/row_memory.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "array/runs.h"
#include "contents/variable.h"
#include "protocol/messages.h"
#include "staging/arena.h"
#include "writing/piece.h"

namespace iocomp::server {
namespace {

constexpr std::int64_t page_bytes = staging::Arena::page_bytes;
constexpr std::size_t longest_row = std::size_t{256} << 10;

// The bytes of the first pieces of a queue that travel inside their headers and lie one behind the
// other in one variable.
std::size_t bytes_in_row(const std::deque<QueuedPiece>& queue) {
  const QueuedPiece& front = queue.front();
  const contents::Variable& variable = front.begun->variable;
  std::size_t bytes = 0;
  std::int64_t next = -1;
  for (const QueuedPiece& queued : queue) {
    const protocol::Piece& piece = queued.piece;
    const bool is_alike = queued.file_key == front.file_key && piece.step == front.piece.step &&
                          piece.variable == front.piece.variable && piece.chunk_elements == 0 &&
                          piece.element_bytes == front.piece.element_bytes &&
                          (queued.region.runs != nullptr ||
                           queued.region.box.dimensions == variable.shape.dimensions);
    if (!is_alike || bytes + queued.piece.inside.size() > longest_row) {
      break;
    }
    array::RunCursor runs{variable.shape, queued.region, piece.first, piece.count};
    array::Run run;
    if (!runs.next(run) || run.elements != piece.count || (next >= 0 && run.index != next)) {
      break;
    }
    next = run.index + run.elements;
    bytes += piece.inside.size();
  }
  return bytes;
}

}  // namespace

std::span<std::byte> RowMemory::place(const std::deque<QueuedPiece>& queue, writing::Chunk& chunk) {
  const std::size_t bytes = queue.front().piece.inside.size();
  if (left_.empty()) {
    const std::size_t all = bytes_in_row(queue);
    const auto skew = static_cast<std::size_t>(first_run(chunk).index *
                                               chunk.piece->element_bytes() % page_bytes);
    if (all <= bytes || all + skew > arena_.capacity_bytes()) {
      return {};
    }
    auto leased = arena_.try_take(all + skew);
    if (!leased) {
      return {};
    }
    left_ = leased->bytes().subspan(skew);
    lease_ = std::make_shared<const staging::Lease>(std::move(*leased));
  }
  const auto memory = left_.first(bytes);
  left_ = left_.subspan(bytes);
  chunk.row = lease_;
  chunk.bytes = chunk.own_bytes = memory;
  return memory;
}

}  // namespace iocomp::server
