// SPDX-License-Identifier: BSD-3-Clause
#include "compress/shuffle.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace iocomp::compress {
namespace {

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  std::size_t state = 1;
  for (std::byte& byte : made) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56U);
  }
  return made;
}

class Shuffle : public testing::TestWithParam<std::size_t> {};

TEST_P(Shuffle, SortsTheBytesOfElementsWhateverTheirNumber) {
  const std::size_t element = GetParam();
  for (const std::size_t elements :
       std::initializer_list<std::size_t>{0, 1, 15, 16, 17, 32, 1027}) {
    const auto values = numbered(elements * element);
    std::vector<std::byte> planes(values.size());
    shuffle(values, element, planes.data());
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t byte = 0; byte < element; ++byte) {
        ASSERT_EQ(planes[byte * elements + i], values[i * element + byte])
            << elements << " elements, byte " << byte << " of element " << i;
      }
    }
    std::vector<std::byte> back(values.size());
    unshuffle(planes, element, back.data());
    EXPECT_EQ(back, values) << elements << " elements";
  }
}

INSTANTIATE_TEST_SUITE_P(OfElements, Shuffle, testing::Values(1, 2, 3, 4, 8, 12, 16));

}  // namespace
}  // namespace iocomp::compress
