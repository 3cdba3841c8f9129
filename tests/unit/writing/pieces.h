// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/region.h"
#include "array/runs.h"
#include "contents/variable.h"
#include "writing/piece.h"

namespace iocomp::writing {

inline contents::Variable int64_variable(const std::vector<std::int64_t>& extent) {
  contents::Variable made;
  made.type = array::ElementType::int64;
  made.shape = array::make_shape(static_cast<int>(extent.size()), extent.data());
  return made;
}

/// A piece that counts how often it was ended. What a test puts must live until then.
struct CountedPiece {
  CountedPiece(const contents::Variable& of, const array::Region& region, std::int64_t offset)
      : piece{std::make_shared<Piece>()} {
    piece->variable = of;
    piece->region = region;
    piece->offset = offset;
    piece->elements_left = array::elements(region);
    piece->ended = [ended = ended](const auto& /*piece*/) { ++*ended; };
  }
  std::shared_ptr<Piece> piece;
  std::shared_ptr<int> ended = std::make_shared<int>(0);
};

/// The values of elements of a piece: each is its global index, and one more.
inline std::vector<std::int64_t> values_of(const Piece& of, std::int64_t first,
                                           std::int64_t count) {
  std::vector<std::int64_t> made;
  array::RunCursor cursor{of.variable.shape, of.region, first, count};
  array::Run run;
  while (cursor.next(run)) {
    for (std::int64_t i = 0; i < run.elements; ++i) {
      made.push_back(run.index + i + 1);
    }
  }
  return made;
}

inline Chunk chunk_of(const CountedPiece& of, std::int64_t first,
                      std::vector<std::int64_t>& values) {
  Chunk chunk;
  chunk.piece = of.piece;
  chunk.first = first;
  chunk.count = static_cast<std::int64_t>(values.size());
  chunk.own_bytes = std::as_writable_bytes(std::span{values});
  chunk.bytes = chunk.own_bytes;
  return chunk;
}

}  // namespace iocomp::writing
