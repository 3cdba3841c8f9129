// SPDX-License-Identifier: BSD-3-Clause
#include "box_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/path.h"
#include "formats/format.h"
#include "formats/source.h"
#include "shared_file.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

constexpr std::byte untouched{0xa5};

// Row-major index in an array of these extents.
std::size_t index_in(const array::Shape& shape, const array::Extents& at) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
    index = index * shape.extent.at(d) + at.at(d);
  }
  return static_cast<std::size_t>(index);
}

// The next position in a box, counted from its start; false after the last.
bool advance(const array::Box& box, array::Extents& at) {
  for (auto d = static_cast<std::size_t>(box.dimensions); d-- > 0;) {
    if (++at.at(d) < box.count.at(d)) {
      return true;
    }
    at.at(d) = 0;
  }
  return false;
}

array::Extents sum(const array::Extents& left, const array::Extents& right) {
  array::Extents all{};
  std::ranges::transform(left, right, all.begin(), std::plus<>{});
  return all;
}

// The expected local array, element by element.
std::vector<std::byte> local_array(const Placed& placed, const std::vector<std::byte>& all,
                                   const array::Box& box, const array::MemoryBox& memory) {
  const std::size_t size = array::size_bytes(placed.variable.type);
  std::vector<std::byte> local(static_cast<std::size_t>(array::elements(memory.shape)) * size,
                               untouched);
  if (array::elements(box) == 0) {
    return local;
  }
  array::Extents at{};
  do {
    const auto* const from =
        all.data() + index_in(placed.variable.shape, sum(box.start, at)) * size;
    std::copy_n(from, size,
                local.data() + index_in(memory.shape, sum(memory.box.start, at)) * size);
  } while (advance(box, at));
  return local;
}

}  // namespace

BoxReader::BoxReader(const BackEnd& back_end, const std::string& path)
    : source_{back_end.open(path)}, random_{static_cast<std::uint64_t>(rank()) + 1} {}

bool BoxReader::differs(const Placed& placed, const std::vector<std::byte>& all,
                        const array::Box& box, int halo) {
  array::MemoryBox memory{placed.variable.shape, box};
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
    memory.box.start.at(d) = halo;
    memory.shape.extent.at(d) = box.count.at(d) + 2 * halo;
  }
  const auto wanted = local_array(placed, all, box, memory);
  std::vector<std::byte> got(wanted.size(), untouched);
  if (array::elements(box) > 0) {
    source_->read(placed, box, {memory, got.data()});
  }
  return got != wanted;
}

std::string BoxReader::differences(const Placed& placed) {
  const array::Shape& shape = placed.variable.shape;
  std::vector<array::Box> boxes{{shape.dimensions, {}, shape.extent}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
    array::Box slice = boxes.front();
    slice.start.at(d) = shape.extent.at(d) / 2;
    slice.count.at(d) = std::min<std::int64_t>(1, shape.extent.at(d) - slice.start.at(d));
    boxes.push_back(slice);
  }
  for (int i = 0; i < 6; ++i) {
    array::Box box{shape.dimensions, {}, {}};
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
      using Range = std::uniform_int_distribution<std::int64_t>;
      box.start.at(d) = Range{0, shape.extent.at(d)}(random_);
      box.count.at(d) = Range{0, shape.extent.at(d) - box.start.at(d)}(random_);
    }
    boxes.push_back(box);
  }
  const auto all = expected(placed);
  std::string different;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (differs(placed, all, boxes.at(i), static_cast<int>(i % 3))) {
      different += text(boxes.at(i)) + ' ';
    }
  }
  return different;
}

}  // namespace iocomp::formats
