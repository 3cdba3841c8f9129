// SPDX-License-Identifier: BSD-3-Clause
#include "array/checksum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "array/byte_order.h"
#include "array/memory_box.h"
#include "random_block.h"
#include "unit/seed.h"

namespace iocomp::array {
namespace {

std::vector<std::byte> counted(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 167 + i / 256);
  }
  return bytes;
}

std::uint64_t sum_of(ElementType type, std::span<const std::byte> bytes,
                     std::endian order = std::endian::native) {
  Checksum sum{type, order};
  sum.add(bytes);
  return sum.value();
}

// As libxxhash 0.8.1 has them.
TEST(Checksum, IsXxh3) {
  EXPECT_EQ(sum_of(ElementType::uint8, {}), 0x2d06800538d394c2U);
  const std::byte a{'a'};
  EXPECT_EQ(sum_of(ElementType::character, {&a, 1}), 0xe6c632b61e964e1fU);
  std::vector<std::byte> kibibyte(1024);
  for (std::size_t i = 0; i < kibibyte.size(); ++i) {
    kibibyte[i] = static_cast<std::byte>(i % 256);
  }
  EXPECT_EQ(sum_of(ElementType::uint8, kibibyte), 0xa870f92984398d22U);
}

TEST(Checksum, IsTheSameInParts) {
  const auto bytes = counted(100000);
  const std::span<const std::byte> all{bytes};
  for (const std::size_t first : {1U, 240U, 255U, 256U, 1024U, 65537U}) {
    Checksum sum{ElementType::uint8};
    sum.add(all.first(first));
    sum.add(all.subspan(first));
    EXPECT_EQ(sum.value(), sum_of(ElementType::uint8, all)) << first;
  }
}

TEST(Checksum, OfRowsInALocalArrayIsThatOfTheirElementsInOrder) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int round = 0; round < 2000; ++round) {
    const RandomBlock random = random_block(generator);
    const auto local = counted(static_cast<std::size_t>(elements(random.shape)) * 4);
    std::vector<std::byte> packed;
    for (const auto index : random.indices) {
      const auto* const first = local.data() + static_cast<std::size_t>(index) * 4;
      packed.insert(packed.end(), first, first + 4);
    }
    const MemoryBox memory{.shape = random.shape, .box = random.box};
    ASSERT_EQ(checksum(ElementType::float32, memory, local.data()),
              sum_of(ElementType::float32, packed))
        << text(random.box) << " in " << text(random.shape);
  }
}

TEST(Checksum, DoesNotDependOnTheByteOrderOfTheMachine) {
  const auto bytes = counted(std::size_t{48} << 10);
  const auto swapped_in = [&](std::size_t number_bytes) {
    std::vector<std::byte> swapped(bytes.size());
    copy_swapped(bytes, swapped, number_bytes);
    return swapped;
  };
  const struct {
    ElementType type;
    std::size_t number_bytes;
  } types[]{{ElementType::uint8, 1},   {ElementType::int16, 2},     {ElementType::float32, 4},
            {ElementType::float64, 8}, {ElementType::complex64, 4}, {ElementType::complex128, 8}};
  for (const auto& [type, number_bytes] : types) {
    EXPECT_EQ(sum_of(type, swapped_in(number_bytes), std::endian::big),
              sum_of(type, bytes, std::endian::little))
        << name(type);
  }
}

TEST(Checksum, AsTextComesBack) {
  EXPECT_EQ(hex(0x0123456789abcdefU), "0123456789abcdef");
  EXPECT_EQ(hex(10), "000000000000000a");
  EXPECT_EQ(checksum_from("0123456789abcdef"), 0x0123456789abcdefU);
  EXPECT_EQ(checksum_from(hex(UINT64_MAX)), UINT64_MAX);
  for (const auto* const wrong : {"", "12", "0123456789abcdeg", "0123456789abcdef0",
                                  "-123456789abcdef", "0x23456789abcdef"}) {
    EXPECT_EQ(checksum_from(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace iocomp::array
