// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "array/box.h"
#include "array/runs.h"
#include "formats/chunks/record_chunks.h"
#include "formats/format.h"
#include "formats/words.h"

namespace iocomp::formats {

/// A part of one chunk that was put: elements in the packed order of a box, all of which lie in the
/// chunk.
struct ChunkPart {
  std::int64_t chunk = 0;  ///< in the step
  Selection selection;
  std::span<const std::byte> bytes;
};

/// Chunks of a step that are made as a whole, numbered through all its variables; the same on all
/// writers.
class StepChunks {
 public:
  struct OfVariable {
    Variable variable;
    RecordChunks chunks;
    std::int64_t first = 0;  // number of its first chunk
  };
  void add(const Variable& variable, const RecordChunks& chunks);

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] const std::vector<OfVariable>& variables() const noexcept { return variables_; }
  [[nodiscard]] const OfVariable& of(std::int64_t chunk) const;
  /// The first element of a chunk, in its variable, and how many it has there.
  [[nodiscard]] array::Run elements(std::int64_t chunk) const;

  /// Cut elements of a variable that were put in the step, packed, at the borders of chunks.
  void cut(int variable, const Selection& selection, std::span<const std::byte> bytes,
           std::vector<ChunkPart>& parts) const;

 private:
  std::vector<OfVariable> variables_;
  std::int64_t count_ = 0;
};

/// Chooses the writer that compresses and writes each chunk: the one that has most of it, unless
/// that gives it more than its share of the bytes and one chunk.
/// @param holders  the writer that has most of each chunk.
[[nodiscard]] std::vector<int> owners(const StepChunks& chunks, const std::vector<int>& holders,
                                      int writers);

/// The round in which its owner takes each chunk in hand: as many as have `most_bytes`, or one.
[[nodiscard]] std::vector<int> rounds(const StepChunks& chunks, const std::vector<int>& owners,
                                      int writers, std::int64_t most_bytes);

}  // namespace iocomp::formats
