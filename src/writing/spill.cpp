// SPDX-License-Identifier: BSD-3-Clause
#include "writing/spill.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "array/checksum.h"
#include "array/element_type.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "base/log.h"
#include "disk/spill_file.h"
#include "trace/counters.h"
#include "writing/piece.h"

namespace iocomp::writing {
namespace {

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  array::Checksum sum{array::ElementType::uint8};
  sum.add(bytes);
  return sum.value();
}

std::string text_of(const Chunk& chunk, const std::string& path) {
  return format_bytes(std::ssize(chunk.bytes)) + " of variable \"" + chunk.piece->variable.name +
         "\" of " + path;
}

}  // namespace

Spill::Spill(std::unique_ptr<disk::SpillFile> file, Memory memory, trace::Counters& counters)
    : file_{std::move(file)}, memory_{std::move(memory)}, counters_{counters} {
  log::info("blocks that find no room in memory are spilled to " + file_->folder());
  if (file_->is_memory()) {
    log::warning("blocks spilled to " + file_->folder() +
                 " stay in memory, because it is a tmpfs: set staging.spill to a folder on a disk "
                 "of the node");
  }
}

std::optional<Spill::Spilled> Spill::put(Chunk& chunk, const std::string& path) {
  const std::size_t bytes = chunk.bytes.size();
  const bool is_needed = given_bytes_ + bytes > memory_.most_given_bytes && memory_.is_short();
  if (chunk.own_bytes.empty() || !is_needed) {
    return std::nullopt;
  }
  auto part = write(chunk, path);
  if (!part) {
    return std::nullopt;
  }
  Spilled spilled{.chunk = {}, .part = std::move(*part), .checksum = checksum_of(chunk.bytes)};
  chunk.free_memory();
  chunk.bytes = chunk.own_bytes = {};
  spilled.chunk = std::move(chunk);
  return spilled;
}

// After a failure nothing is tried until something was given back, because a full disk stays full.
std::optional<disk::SpillFile::Part> Spill::write(const Chunk& chunk, const std::string& path) {
  if (has_failed_ && file_->used_bytes() >= used_at_failure_) {
    return std::nullopt;
  }
  const trace::Timer timer{counters_, trace::Counter::spill_seconds, trace::What::spill};
  std::optional<disk::SpillFile::Part> part;
  const Outcome written = outcome_of([&] { part = file_->write(chunk.bytes); });
  if (!written.ok() || !part) {
    has_failed_ = true;
    if (!std::exchange(has_told_failure_, true)) {
      log::warning("cannot spill " + text_of(chunk, path) + " to " + file_->folder() + ": " +
                   (written.ok() ? "staging.spill_limit is reached" : written.story) +
                   "; puts wait until there is room");
    }
    used_at_failure_ = file_->used_bytes();
    return std::nullopt;
  }
  has_failed_ = false;
  counters_.add(trace::Counter::spilled_bytes, static_cast<double>(chunk.bytes.size()));
  if (!std::exchange(has_spilled_, true)) {
    log::info("memory is full: " + text_of(chunk, path) + " is spilled to " + file_->folder() +
              " (told once)");
  }
  return part;
}

void Spill::give(Chunk& chunk) {
  if (chunk.own_bytes.empty()) {
    return;
  }
  const std::size_t bytes = chunk.own_bytes.size();
  given_bytes_ += bytes;
  chunk.loan = {chunk.own_bytes.data(),
                [this, bytes, held = std::move(chunk.loan)](const void* /*bytes*/) mutable {
                  held.reset();
                  given_bytes_ -= bytes;
                }};
}

bool Spill::has_turn(const Spilled& spilled) const noexcept {
  return is_idle() || given_bytes_ + spilled.part.bytes() <= memory_.most_given_bytes;
}

bool Spill::take_memory(Spilled& spilled) const {
  return memory_.take(spilled.chunk, spilled.part.bytes(), spilled.part.page_remainder());
}

void Spill::read(Spilled& spilled) {
  const trace::Timer timer{counters_, trace::Counter::spill_seconds, trace::What::spill};
  file_->read(spilled.part, spilled.chunk.own_bytes);
  if (checksum_of(spilled.chunk.own_bytes) != spilled.checksum) {
    throw Error{ErrorCode::storage_failure,
                "a block spilled to " + file_->folder() +
                    " was read back with other bytes: the disk has lost them"};
  }
}

}  // namespace iocomp::writing
