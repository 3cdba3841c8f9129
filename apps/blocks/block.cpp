// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/block.h"

#include <bit>
#include <functional>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace iocomp::apps::blocks {
namespace {

/// Call `visit(index, place)` for every run of a box along the last dimension: the row-major index
/// of its first element in the array, and its place in the packed box.
template <typename Visit>
void for_each_run(const Extents& shape, const Box& box, Visit visit) {
  const std::size_t last = shape.size() - 1;
  if (box.elements() == 0) return;
  Extents at = box.start;
  for (std::int64_t place = 0; place < box.elements(); place += box.count[last]) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
    visit(index, place);
    for (std::size_t d = last; d-- > 0 && ++at[d] == box.start[d] + box.count[d];) {
      at[d] = box.start[d];
    }
  }
}

/// The value of element 0.
double first_value(const Extents& shape, std::int64_t stamp) {
  constexpr std::int64_t exact = std::int64_t{1} << 53U;  // integers up to here are doubles
  const std::int64_t elements = product(shape);
  if (elements > exact / (stamp + 1)) {
    throw std::runtime_error("an array of " + text(shape) + " elements, written " +
                             std::to_string(stamp + 1) +
                             " times, cannot have values of its own below 2^53: use fewer "
                             "repetitions");
  }
  return static_cast<double>(stamp * elements);
}

/// The values of an array, by their place in it.
class ValueOf {
 public:
  ValueOf(const Extents& shape, const Pattern& pattern)
      : origin_{first_value(shape, pattern.stamp)},
        noise_{(std::uint64_t{1} << static_cast<unsigned>(pattern.noise_bits)) - 1} {}

  double operator()(std::int64_t index) const {
    const double value = origin_ + static_cast<double>(index);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return std::bit_cast<double>(bits ^ (mixed(bits) & noise_));
  }

 private:
  /// The last step of SplitMix64: each bit of the result depends on all of `bits`.
  static std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
  }

  double origin_;
  std::uint64_t noise_;
};

}  // namespace

std::int64_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies{});
}

std::int64_t Box::elements() const { return product(count); }

std::vector<int> balanced_grid(int ranks, int dimensions) {
  std::vector<int> grid(static_cast<std::size_t>(dimensions), 0);
  MPI_Dims_create(ranks, dimensions, grid.data());
  return grid;
}

Box part_of(const Extents& shape, const std::vector<int>& grid, int rank) {
  Box box{Extents(shape.size()), Extents(shape.size())};
  std::int64_t left = rank;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t parts = grid[d];
    const std::int64_t part = left % parts;
    left /= parts;
    const std::int64_t longer = shape[d] % parts;  // so many parts have one element more
    box.start[d] = part * (shape[d] / parts) + std::min(part, longer);
    box.count[d] = shape[d] / parts + (part < longer ? 1 : 0);
  }
  return box;
}

void fill(const Extents& shape, const Box& box, const Pattern& pattern, std::span<double> values) {
  const ValueOf value_of{shape, pattern};
  for_each_run(shape, box, [&](std::int64_t index, std::int64_t place) {
    double* const run = values.data() + place;
    for (std::int64_t i = 0; i < box.count.back(); ++i) {
      run[i] = value_of(index + i);
    }
  });
}

std::string mistake_in(const Extents& shape, const Box& box, const Pattern& pattern,
                       std::span<const double> values) {
  const ValueOf value_of{shape, pattern};
  std::int64_t wrong = 0;
  std::ostringstream first;
  for_each_run(shape, box, [&](std::int64_t index, std::int64_t place) {
    for (std::int64_t i = 0; i < box.count.back(); ++i) {
      const double expected = value_of(index + i);
      const double found = values[static_cast<std::size_t>(place + i)];
      if (found == expected) continue;
      if (wrong++ == 0) {
        first.precision(17);
        first << "the first is number " << index + i << " of " << text(shape) << ", which is "
              << found << " instead of " << expected;
      }
    }
  });
  return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong, " + first.str();
}

std::string text(const Extents& extents) {
  std::string result;
  for (const std::int64_t extent : extents) {
    result += (result.empty() ? "" : " x ") + std::to_string(extent);
  }
  return result;
}

}  // namespace iocomp::apps::blocks
