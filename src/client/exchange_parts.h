#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/box.h"
#include "array/pieces.h"
#include "array/region.h"

namespace iocomp::client {

/// What a rank has for an aggregator: elements `first` to `first + count` of the packed order of
/// the box, or all of a list of runs. As it travels.
struct ExchangedPiece {
  std::int64_t variable = 0;
  array::Box box;
  std::uint64_t runs = 0;  ///< instead of the box: the number that the aggregator knows the list by
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The windows that the domain of an aggregator is written in, one after the other.
struct Windows {
  array::Domains domains;
  int number = 0;             ///< of the aggregator
  std::int64_t elements = 1;  ///< of a window

  [[nodiscard]] std::int64_t begin(std::int64_t window) const noexcept {
    return domains.begin(number) + window * elements;
  }
  [[nodiscard]] std::int64_t end(std::int64_t window) const noexcept;
};

/// The part of a piece that lies in one window: one message.
struct ExchangedPart {
  std::int64_t variable = 0;
  std::int64_t window = 0;
  std::size_t piece = 0;
  std::int64_t first = 0;  ///< of the packed order
  std::int64_t count = 0;
};

/// Cut a piece of a region at the borders of windows, and add the parts. O(parts).
void cut(const ExchangedPiece& piece, const array::Region& region, std::size_t number,
         const array::Shape& shape, const Windows& windows, std::vector<ExchangedPart>& parts);

/// Bring the parts of all pieces between two ranks into the order in which they travel: of their
/// variables, windows and pieces.
void sort(std::vector<ExchangedPart>& parts);

}  // namespace iocomp::client
