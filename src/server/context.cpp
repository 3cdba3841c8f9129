// SPDX-License-Identifier: BSD-3-Clause
#include "server/context.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "config/spill_folder.h"
#include "disk/spill_file.h"
#include "writing/piece.h"
#include "writing/spill.h"

namespace iocomp::server {
namespace {

// Fractions of the staging memory. Stripes may have half of it, and some must be left to receive
// into.
constexpr std::size_t given_part = 4;
constexpr std::size_t spare_part = 4;

}  // namespace

writing::Spill& Context::spill() {
  if (!made_spill) {
    auto file = std::make_unique<disk::SpillFile>(
        config::spill_folder(settings),
        static_cast<std::size_t>(settings.bytes("staging.spill_limit")), disk);
    const std::size_t capacity = arena.capacity_bytes();
    made_spill = std::make_unique<writing::Spill>(
        std::move(file),
        writing::Spill::Memory{
            .most_given_bytes = capacity / given_part,
            .is_short =
                [this, capacity] { return arena.used_bytes() > capacity - capacity / spare_part; },
            .take =
                [this](writing::Chunk& chunk, std::size_t bytes, std::size_t page_remainder) {
                  auto leased = arena.try_take(bytes + page_remainder);
                  if (leased) {
                    chunk.lease = std::move(*leased);
                    chunk.bytes = chunk.own_bytes =
                        chunk.lease.bytes().subspan(page_remainder, bytes);
                  }
                  return leased.has_value();
                }},
        counters);
  }
  return *made_spill;
}

}  // namespace iocomp::server
