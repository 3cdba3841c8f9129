#include "values.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>

namespace actor {
namespace {

template <typename T>
void fill(std::byte* into, std::int64_t first, std::int64_t count, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index = first + i;
    T value{};
    if constexpr (sizeof(T) == 1) {
      value = static_cast<T>((index * 31 + step * 7) % 127);
    } else {
      value = static_cast<T>(index + step * 1000000);
    }
    std::memcpy(into + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
}

void fill_row(iocomp_type type, std::byte* into, std::int64_t first, std::int64_t count,
              std::int64_t step) {
  switch (type) {
    case IOCOMP_INT8:
      return fill<std::int8_t>(into, first, count, step);
    case IOCOMP_INT32:
      return fill<std::int32_t>(into, first, count, step);
    case IOCOMP_INT64:
      return fill<std::int64_t>(into, first, count, step);
    default:
      return fill<double>(into, first, count, step);
  }
}

/// The global index of the first element of row `row` of the block.
std::int64_t first_index(const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& start,
                         const std::vector<std::int64_t>& count, std::int64_t row) {
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    std::int64_t inside = 0;
    if (d + 1 < shape.size()) {
      inside = row % count[d];
      row /= count[d];
    }
    index += (start[d] + inside) * stride;
    stride *= shape[d];
  }
  return index;
}

}  // namespace

iocomp_type type_of(const std::string& name) {
  static const std::map<std::string, iocomp_type> types{{"int8", IOCOMP_INT8},
                                                        {"int32", IOCOMP_INT32},
                                                        {"int64", IOCOMP_INT64},
                                                        {"float64", IOCOMP_FLOAT64},
                                                        {"char", IOCOMP_CHAR}};
  const auto found = types.find(name);
  if (found == types.end()) {
    throw std::runtime_error{"there is no type " + name + " here"};
  }
  return found->second;
}

std::int64_t product(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
}

Bytes values_of(iocomp_type type, const std::vector<std::int64_t>& shape,
                const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& count,
                std::int64_t step) {
  const std::size_t element = iocomp_type_size(type);
  Bytes values(static_cast<std::size_t>(product(count)) * element);
  const std::int64_t row_length = count.empty() ? 1 : count.back();
  const std::int64_t rows = row_length == 0 ? 0 : product(count) / row_length;
  for (std::int64_t row = 0; row < rows; ++row) {
    fill_row(type, values.data() + static_cast<std::size_t>(row * row_length) * element,
             first_index(shape, start, count, row), row_length, step);
  }
  return values;
}

Bytes with_halo(const Bytes& values, std::size_t element_bytes,
                const std::vector<std::int64_t>& count, std::int64_t halo) {
  std::vector<std::int64_t> wide = count;
  std::ranges::for_each(wide, [halo](auto& extent) { extent += 2 * halo; });
  Bytes around(static_cast<std::size_t>(product(wide)) * element_bytes, std::byte{0xff});
  const std::vector<std::int64_t> start(count.size(), halo);
  const std::int64_t row_length = count.empty() ? 1 : count.back();
  const std::size_t row_bytes = static_cast<std::size_t>(row_length) * element_bytes;
  for (std::int64_t row = 0; row * row_length < product(count); ++row) {
    const auto at = static_cast<std::size_t>(first_index(wide, start, count, row));
    std::memcpy(around.data() + at * element_bytes,
                values.data() + static_cast<std::size_t>(row) * row_bytes, row_bytes);
  }
  return around;
}

void add_to(Bytes& values, std::int64_t more) {
  for (std::size_t at = 0; more != 0 && at < values.size(); at += sizeof more) {
    std::int64_t value = 0;
    std::memcpy(&value, values.data() + at, sizeof value);
    value += more;
    std::memcpy(values.data() + at, &value, sizeof value);
  }
}

}  // namespace actor
