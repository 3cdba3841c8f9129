#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "array/runs.h"
#include "contents/variable.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/intake.h"
#include "staging/arena.h"
#include "writing/piece.h"

namespace iocomp::server {
namespace {

constexpr std::int64_t page = staging::Arena::page_bytes;
constexpr std::size_t longest_row = std::size_t{256} << 10;

}  // namespace

// How many bytes the first pieces of a queue have that travel inside their headers and lie one
// behind the other in one variable.
std::size_t Intake::bytes_in_row(const Client& client) {
  const Queued& front = client.queue.front();
  const contents::Variable& variable = front.begun->variable;
  std::size_t bytes = 0;
  std::int64_t next = -1;
  for (const Queued& queued : client.queue) {
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

// Neighbours that are here already. Whoever finds no room, or has none, gets memory of its own.
bool Intake::place_in_row(const Client& client, writing::Chunk& chunk,
                          std::span<std::byte>& memory) {
  const std::size_t bytes = client.queue.front().piece.inside.size();
  if (row_.left.empty()) {
    const std::size_t all = bytes_in_row(client);
    const auto skew =
        static_cast<std::size_t>(first_run(chunk).index * chunk.piece->element_bytes() % page);
    if (all <= bytes || all + skew > context_.arena.capacity_bytes()) {
      return false;
    }
    auto leased = context_.arena.try_take(all + skew);
    if (!leased) {
      return false;
    }
    row_.left = leased->bytes().subspan(skew);
    row_.lease = std::make_shared<const staging::Lease>(std::move(*leased));
  }
  memory = row_.left.first(bytes);
  row_.left = row_.left.subspan(bytes);
  chunk.row = row_.lease;
  chunk.bytes = chunk.own_bytes = memory;
  return true;
}

}  // namespace iocomp::server
