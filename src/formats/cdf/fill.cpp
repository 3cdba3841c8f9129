// SPDX-License-Identifier: BSD-3-Clause
#include "formats/cdf/fill.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "array/byte_order.h"
#include "array/element_type.h"
#include "array/repeat.h"
#include "base/descriptor.h"
#include "base/plain_io.h"
#include "formats/cdf/types.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 20;

}  // namespace

void fill(const Descriptor& file, const std::string& path, std::int64_t offset, std::int64_t bytes,
          array::ElementType type, std::endian order, const Attributes& attributes) {
  auto value = fill_value(type, own_fill_value(type, attributes));
  if (order != std::endian::native) {
    array::swap_bytes(value, array::number_bytes(type));
  }
  std::vector<std::byte> part(
      std::min(static_cast<std::size_t>(bytes), part_bytes / value.size() * value.size()));
  array::repeat(value, part);
  for (std::int64_t done = 0; done < bytes; done += std::ssize(part)) {
    const auto now = std::min(part.size(), static_cast<std::size_t>(bytes - done));
    write_plainly(file, offset + done, std::span{part}.first(now), path);
  }
}

}  // namespace iocomp::formats::cdf
