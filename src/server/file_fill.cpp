#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/byte_order.h"
#include "array/run_list.h"
#include "contents/catalogue.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/file.h"
#include "server/piece.h"

namespace iocomp::server {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 10;  // of fill values held

}  // namespace

void File::fill(const protocol::FillOrder& order) {
  Step& step = steps_[order.step];
  step.reported = false;
  if (!is_lost(order.step)) {
    step.expected += std::ssize(order.holes);
    for (const auto& [variable, holes] : order.holes) {
      fill(order.step, variable, holes);
    }
    submit_gathered();
  }
  check_step(order.step);
}

// Like a piece of a compute rank, but for where its bytes come from: all chunks read the same.
void File::fill(std::int64_t step, std::int32_t variable, const array::RunList& holes) {
  auto piece = std::make_shared<Piece>();
  piece->step = step;
  piece->variable = catalogue_.variable(variable, step);
  piece->region = std::make_shared<const array::RunList>(holes);
  piece->elements_left = holes.elements();
  piece->elements_to_come = holes.elements();
  const auto value = catalogue_.fill(variable, step);
  const auto most = static_cast<std::int64_t>(most_bytes / value.size());
  const auto held = static_cast<std::size_t>(std::min(most, holes.elements()));
  piece->fill.resize(held * value.size());
  for (std::size_t i = 0; i < held; ++i) {
    std::memcpy(piece->fill.data() + i * value.size(), value.data(), value.size());
  }
  if (swaps_bytes_) {
    array::swap_bytes(piece->fill, value.size());
  }
  for (std::int64_t first = 0; first < holes.elements(); first += most) {
    Chunk chunk;
    chunk.piece = piece;
    chunk.first = first;
    chunk.count = std::min(most, holes.elements() - first);
    chunk.bytes =
        std::span{piece->fill}.first(static_cast<std::size_t>(chunk.count) * value.size());
    write(std::move(chunk));
  }
}

}  // namespace iocomp::server
