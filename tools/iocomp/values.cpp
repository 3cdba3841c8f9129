// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/sub_boxes.h"
#include "reading/input.h"

namespace iocomp::command {
namespace {

constexpr std::int64_t part_bytes = std::int64_t{8} << 20;

}  // namespace

void read_in_parts(reading::Input& input, const std::string& variable, std::int64_t step,
                   const array::Box& box,
                   const std::function<void(std::span<const std::byte>, std::int64_t)>& take) {
  const auto type = input.place(variable, step).type;
  const auto element = static_cast<std::int64_t>(array::size_bytes(type));
  const std::int64_t all = array::elements(box);
  // Whole rows, so that a part is one box.
  const std::int64_t most = std::max<std::int64_t>(array::whole_rows(box, part_bytes / element), 1);
  const auto bytes = static_cast<std::size_t>(std::min(most, all) * element);
  const auto values = std::make_unique_for_overwrite<std::byte[]>(bytes);
  for (std::int64_t first = 0; first < all;) {
    for (const auto& part : formats::sub_boxes(box, first, std::min(most, all - first))) {
      const std::int64_t elements = array::elements(part);
      input.read(variable, step,
                 {.start = part.start.data(),
                  .count = part.count.data(),
                  .values = values.get(),
                  .type = type});
      take({values.get(), static_cast<std::size_t>(elements * element)}, first);
      first += elements;
    }
  }
}

}  // namespace iocomp::command
