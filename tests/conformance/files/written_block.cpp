#include "written_block.h"

#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iocomp/iocomp.hpp>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pattern.h"

namespace {

std::int64_t product(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies{});
}

std::int64_t index_in(const std::vector<std::int64_t>& shape,
                      const std::vector<std::int64_t>& start,
                      const std::vector<std::int64_t>& offset) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    index = index * shape[d] + start[d] + offset[d];
  }
  return index;
}

}  // namespace

bool WrittenBlock::is_empty() const { return product(block.count) == 0; }

std::vector<std::byte> WrittenBlock::local_array() const {
  const std::size_t element = iocomp_type_size(type);
  std::vector<std::byte> memory(static_cast<std::size_t>(product(block.memory_shape)) * element,
                                poison);
  std::vector<std::int64_t> offset(block.count.size(), 0);
  for (std::int64_t left = product(block.count); left > 0; --left) {
    const auto at =
        static_cast<std::size_t>(index_in(block.memory_shape, block.memory_start, offset));
    pattern::fill(type, seed, step, index_in(block.global_shape, block.global_start, offset),
                  std::span{memory}.subspan(at * element, element));
    for (std::size_t d = offset.size(); d-- > 0 && ++offset[d] == block.count[d];) {
      offset[d] = 0;
    }
  }
  return memory;
}

void WrittenBlock::expect_in(const iocomp::Input& input) const {
  std::vector<std::byte> memory(
      static_cast<std::size_t>(product(block.memory_shape)) * iocomp_type_size(type), poison);
  if (input.type(variable) != type || input.shape(variable, step) != block.global_shape) {
    throw std::runtime_error{"\"" + variable + "\" has another type or shape in step " +
                             std::to_string(step)};
  }
  iocomp::check(iocomp_read_into(input.raw(), variable.c_str(), step, block.global_start.data(),
                                 block.count.data(), memory.data(), block.memory_shape.data(),
                                 block.memory_start.data()));
  if (memory != local_array()) {
    throw std::runtime_error{"\"" + variable + "\" in step " + std::to_string(step) +
                             " is not read as it was put"};
  }
}
