// SPDX-License-Identifier: BSD-3-Clause
#include "formats/shuffle.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace iocomp::formats {
namespace {

// Elements whose bytes fit into the nearest cache while they are spread.
constexpr std::size_t elements_at_once = 1024;

}  // namespace

void shuffle(std::span<const std::byte> bytes, std::size_t element_bytes, std::byte* to) {
  const std::size_t elements = bytes.size() / element_bytes;
  for (std::size_t first = 0; first < elements; first += elements_at_once) {
    const std::size_t last = std::min(first + elements_at_once, elements);
    for (std::size_t byte = 0; byte < element_bytes; ++byte) {
      const std::byte* from = bytes.data() + byte;
      std::byte* plane = to + byte * elements;
      for (std::size_t i = first; i < last; ++i) {
        plane[i] = from[i * element_bytes];
      }
    }
  }
}

void unshuffle(std::span<const std::byte> shuffled, std::size_t element_bytes, std::byte* to) {
  const std::size_t elements = shuffled.size() / element_bytes;
  for (std::size_t first = 0; first < elements; first += elements_at_once) {
    const std::size_t last = std::min(first + elements_at_once, elements);
    for (std::size_t byte = 0; byte < element_bytes; ++byte) {
      const std::byte* plane = shuffled.data() + byte * elements;
      for (std::size_t i = first; i < last; ++i) {
        to[i * element_bytes + byte] = plane[i];
      }
    }
  }
}

}  // namespace iocomp::formats
