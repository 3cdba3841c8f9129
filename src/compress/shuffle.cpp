// SPDX-License-Identifier: BSD-3-Clause
#include "compress/shuffle.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "compress/bench.h"

namespace iocomp::compress {
namespace {

// The bytes of a vector register: as many elements are taken at once.
constexpr std::size_t lanes = 16;
using Lanes __attribute__((vector_size(lanes))) = unsigned char;

Lanes low_halves(Lanes one, Lanes other) {
  return __builtin_shufflevector(one, other, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                 23);
}

Lanes high_halves(Lanes one, Lanes other) {
  return __builtin_shufflevector(one, other, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                 15, 31);
}

// All bytes of 16 elements, as they lie in memory. To put the halves of such a block between one
// another, byte by byte, moves the first bit of each byte's place behind the others. The place of a
// byte is the number of the element (4 bits) and then its own in the element: four times that, and
// its own comes first, which is the shuffled block. Its own bits again, and it is as it was.
template <std::size_t element_bytes>
class Block {
 public:
  std::array<Lanes, element_bytes> lanes_of;

  void interleave(int times) {
    for (int time = 0; time < times; ++time) {
      const auto before = lanes_of;
      for (std::size_t i = 0; i < element_bytes / 2; ++i) {
        lanes_of[2 * i] = low_halves(before[i], before[i + element_bytes / 2]);
        lanes_of[2 * i + 1] = high_halves(before[i], before[i + element_bytes / 2]);
      }
    }
  }
};

constexpr int log2_of(std::size_t number) { return number == 1 ? 0 : 1 + log2_of(number / 2); }

// @return how many elements were done.
template <std::size_t element_bytes>
std::size_t shuffle_blocks(const std::byte* from, std::size_t elements, std::byte* to) {
  std::size_t done = 0;
  for (; done + lanes <= elements; done += lanes) {
    Block<element_bytes> block;
    std::memcpy(&block.lanes_of, from + done * element_bytes, sizeof block.lanes_of);
    block.interleave(log2_of(lanes));
    for (std::size_t byte = 0; byte < element_bytes; ++byte) {
      std::memcpy(to + byte * elements + done, &block.lanes_of[byte], lanes);
    }
  }
  return done;
}

template <std::size_t element_bytes>
std::size_t unshuffle_blocks(const std::byte* from, std::size_t elements, std::byte* to) {
  std::size_t done = 0;
  for (; done + lanes <= elements; done += lanes) {
    Block<element_bytes> block;
    for (std::size_t byte = 0; byte < element_bytes; ++byte) {
      std::memcpy(&block.lanes_of[byte], from + byte * elements + done, lanes);
    }
    block.interleave(log2_of(element_bytes));
    std::memcpy(to + done * element_bytes, &block.lanes_of, sizeof block.lanes_of);
  }
  return done;
}

// Call `each.template operator()<element_bytes>()` where blocks of such elements can be made.
// @return how many elements were done.
template <typename Each>
std::size_t in_blocks(std::size_t element_bytes, const Each& each) {
  switch (element_bytes) {
    case 2:
      return each.template operator()<2>();
    case 4:
      return each.template operator()<4>();
    case 8:
      return each.template operator()<8>();
    case 16:
      return each.template operator()<16>();
    default:
      return 0;
  }
}

void copy_rest(std::span<const std::byte> from, std::size_t element_bytes, std::byte* to) {
  const std::size_t rest = from.size() % element_bytes;
  std::ranges::copy(from.last(rest), to + (from.size() - rest));
}

}  // namespace

void shuffle(std::span<const std::byte> bytes, std::size_t element_bytes, std::byte* to) {
  const std::size_t elements = bytes.size() / element_bytes;
  const std::byte* from = bytes.data();
  const std::size_t done = in_blocks(
      element_bytes, [&]<std::size_t size>() { return shuffle_blocks<size>(from, elements, to); });
  for (std::size_t i = done; i < elements; ++i) {
    for (std::size_t byte = 0; byte < element_bytes; ++byte) {
      to[byte * elements + i] = from[i * element_bytes + byte];
    }
  }
  copy_rest(bytes, element_bytes, to);
}

std::span<const std::byte> shuffled(std::span<const std::byte> elements, std::size_t element_bytes,
                                    Bench& bench) {
  if (element_bytes <= 1) {
    return elements;
  }
  const auto room = bench.shuffled.room(elements.size());
  shuffle(elements, element_bytes, room.data());
  return room;
}

void unshuffle(std::span<const std::byte> shuffled, std::size_t element_bytes, std::byte* to) {
  const std::size_t elements = shuffled.size() / element_bytes;
  const std::byte* from = shuffled.data();
  const std::size_t done = in_blocks(element_bytes, [&]<std::size_t size>() {
    return unshuffle_blocks<size>(from, elements, to);
  });
  for (std::size_t i = done; i < elements; ++i) {
    for (std::size_t byte = 0; byte < element_bytes; ++byte) {
      to[i * element_bytes + byte] = from[byte * elements + i];
    }
  }
  copy_rest(shuffled, element_bytes, to);
}

}  // namespace iocomp::compress
