// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/pieces.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/free_ranges.h"
#include "disk/engine.h"
#include "hdf5/layout.h"
#include "hdf5/selection_runs.h"
#include "hdf5/values.h"

namespace iocomp::hdf5 {
namespace {

constexpr std::size_t most_pieces = std::size_t{1} << 16;
// Shorter runs never go O_DIRECT, so they need no place of their own.
constexpr std::uint64_t least_aligned_bytes = std::uint64_t{64} << 10;
constexpr std::size_t page_bytes = FreeRanges::page_bytes;

}  // namespace

void Pieces::add(const ByteRun& placed) {
  bytes_ += placed.bytes;
  if (!pieces_.empty() && pieces_.back().offset + pieces_.back().bytes == placed.offset) {
    pieces_.back().bytes += placed.bytes;
    return;
  }
  pieces_.push_back({.offset = placed.offset, .bytes = placed.bytes, .in_copy = 0});
}

Pieces::Found Pieces::find(SelectionRuns& selection, Layout& layout, std::uint64_t most_bytes) {
  pieces_.clear();
  runs_.clear();
  bytes_ = 0;
  while (bytes_ < most_bytes && pieces_.size() < most_pieces) {
    ByteRun run = selection.next(most_bytes - bytes_);
    if (run.bytes == 0) {
      break;
    }
    while (run.bytes > 0) {
      const std::optional<ByteRun> placed = layout.place(run);
      if (!placed) {
        return Found::no_place;
      }
      add(*placed);
      run.offset += placed->bytes;
      run.bytes -= placed->bytes;
    }
  }
  if (pieces_.empty()) {
    return Found::none;
  }
  return arrange() ? Found::some : Found::no_place;
}

// False where two pieces overlap: which of them is the later one would be lost.
bool Pieces::arrange() {
  std::vector<std::size_t> order(pieces_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [this](std::size_t i) { return pieces_[i].offset; });
  std::vector<std::size_t> run_of(pieces_.size());
  for (const std::size_t i : order) {
    Piece& piece = pieces_[i];
    const std::uint64_t end = runs_.empty() ? 0 : runs_.back().offset + runs_.back().bytes;
    if (!runs_.empty() && piece.offset < end) {
      return false;
    }
    if (runs_.empty() || piece.offset > end) {
      runs_.push_back({.offset = piece.offset, .bytes = 0, .in_copy = 0});
    }
    run_of[i] = runs_.size() - 1;
    piece.in_copy = runs_.back().bytes;
    runs_.back().bytes += piece.bytes;
  }
  copy_bytes_ = 0;
  for (Run& run : runs_) {
    if (run.bytes >= least_aligned_bytes) {
      copy_bytes_ = whole_pages(copy_bytes_) + run.offset % page_bytes;
    }
    run.in_copy = copy_bytes_;
    copy_bytes_ += run.bytes;
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    pieces_[i].in_copy += runs_[run_of[i]].in_copy;
  }
  return true;
}

bool Pieces::are_long() const noexcept { return bytes_ >= pieces_.size() * least_aligned_bytes; }

void Pieces::fill(std::span<std::byte> copy, Values& values) const {
  for (const Piece& piece : pieces_) {
    values.copy_to(copy.subspan(piece.in_copy, piece.bytes));
  }
}

std::vector<disk::Write> Pieces::writes(std::span<const std::byte> copy) const {
  std::vector<disk::Write> writes;
  writes.reserve(runs_.size());
  for (const Run& run : runs_) {
    writes.push_back({.offset = static_cast<std::int64_t>(run.offset),
                      .bytes = copy.subspan(run.in_copy, run.bytes)});
  }
  return writes;
}

std::vector<disk::Write> Pieces::writes_in_place(Values& values) const {
  std::vector<disk::Write> writes;
  writes.reserve(pieces_.size());
  for (const Piece& piece : pieces_) {
    writes.push_back(
        {.offset = static_cast<std::int64_t>(piece.offset), .bytes = values.next(piece.bytes)});
  }
  std::ranges::sort(writes, {}, &disk::Write::offset);
  return writes;
}

}  // namespace iocomp::hdf5
