// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/node_plan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "transport/shared_memory/atomics.h"
#include "transport/shared_memory/byte_ring.h"
#include "transport/shared_memory/doorbell.h"
#include "transport/shared_memory/node_watch.h"

namespace iocomp::transport {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t page_bytes = 4096;
// A ring has room for the descriptors of many puts. Longer records go through it in parts.
constexpr std::size_t smallest_ring = std::size_t{2} << 10;
constexpr std::size_t largest_ring = std::size_t{256} << 10;
// all rings of a node, if that leaves each enough
constexpr std::size_t all_rings = std::size_t{16} << 20;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

NodePlan::NodePlan(std::vector<bool> serves) : serves_{std::move(serves)} {
  for (const bool one : serves_) {
    servers_before_.push_back(servers_);
    servers_ += one ? 1 : 0;
  }
  for (const bool one : serves_) {
    first_ring_.push_back(rings_);
    rings_ += one ? processes() - 1 : servers_;
  }
  ring_bytes_ = std::clamp(std::bit_floor(all_rings / std::max<std::size_t>(rings_, 1)),
                           smallest_ring, largest_ring);
}

std::size_t NodePlan::bell_bits(std::size_t process) const noexcept {
  return bell(process) + rounded_up(sizeof(BellState<Atomics>), line_bytes);
}

std::size_t NodePlan::bell(std::size_t process) const noexcept {
  const std::size_t each = rounded_up(sizeof(BellState<Atomics>), line_bytes) +
                           rounded_up(bit_words() * sizeof(BellBits<Atomics>), line_bytes);
  return process * each;
}

std::size_t NodePlan::life(std::size_t process) const noexcept {
  return bell(processes()) + process * sizeof(Life);
}

std::size_t NodePlan::state() const noexcept { return life(processes()); }

std::size_t NodePlan::first_ring_ends() const noexcept {
  return state() + rounded_up(sizeof(NodeState), line_bytes);
}

std::size_t NodePlan::ring(std::size_t from, std::size_t to) const {
  const std::size_t number = serves_[from] ? to - (to > from ? 1 : 0) : servers_before_[to];
  return first_ring_[from] + number;
}

std::size_t NodePlan::ring_ends(std::size_t from, std::size_t to) const {
  return first_ring_ends() + ring(from, to) * sizeof(RingEnds<Atomics>);
}

std::size_t NodePlan::ring_memory(std::size_t from, std::size_t to) const {
  const std::size_t begin =
      rounded_up(first_ring_ends() + rings_ * sizeof(RingEnds<Atomics>), page_bytes);
  return begin + ring(from, to) * ring_bytes_;
}

std::size_t NodePlan::bytes() const noexcept {
  const std::size_t begin =
      rounded_up(first_ring_ends() + rings_ * sizeof(RingEnds<Atomics>), page_bytes);
  return rounded_up(begin + rings_ * ring_bytes_, page_bytes);
}

}  // namespace iocomp::transport
