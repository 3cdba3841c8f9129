// SPDX-License-Identifier: BSD-3-Clause
#include "array/cover.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "array/box.h"
#include "array/region.h"
#include "array/run_list.h"

namespace iocomp::array {
namespace {

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t point = 0x1d3f'5a86'9c42'e7b1;  // some number below the prime

constexpr std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t s = a + b;
  return s >= prime ? s - prime : s;
}

constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide wide = static_cast<Wide>(a) * b;
  return sum(static_cast<std::uint64_t>(wide & prime), static_cast<std::uint64_t>(wide >> 61));
}

constexpr std::size_t bits = 63;
constexpr unsigned low_bits = 30;
constexpr std::uint64_t low = (std::uint64_t{1} << low_bits) - 1;

// point^(2^k)
constexpr std::array<std::uint64_t, bits> make_squares() noexcept {
  std::array<std::uint64_t, bits> squares{};
  squares[0] = point;
  for (std::size_t k = 1; k < bits; ++k) {
    squares[k] = product(squares[k - 1], squares[k - 1]);
  }
  return squares;
}

constexpr auto squares = make_squares();

std::uint64_t power(std::int64_t exponent) noexcept {
  std::uint64_t value = 1;
  for (auto left = static_cast<std::uint64_t>(exponent); left != 0; left &= left - 1) {
    value = product(value, squares[static_cast<std::size_t>(std::countr_zero(left))]);
  }
  return value;
}

// 1 + q + q^2 + ... + q^(terms - 1): twice as many terms for each bit.
std::uint64_t series(std::uint64_t q, std::int64_t terms) noexcept {
  const auto n = static_cast<std::uint64_t>(terms);
  std::uint64_t value = 0;
  std::uint64_t next = 1;  // q to the number of terms so far
  for (auto bit = static_cast<int>(std::bit_width(n)); bit-- > 0;) {
    value = sum(value, product(value, next));
    next = product(next, next);
    if ((n >> bit & 1U) != 0) {
      value = sum(product(value, q), 1);
      next = product(next, q);
    }
  }
  return value;
}

}  // namespace

void add(Cover& sum_of, const Cover& more) noexcept {
  sum_of.elements += more.elements;
  sum_of.print = sum(sum_of.print, more.print);
}

Cover cover_of(const Shape& shape, const Region& region) noexcept {
  Cover cover;
  cover.elements = static_cast<std::uint64_t>(elements(region));
  if (cover.elements == 0) {
    return {};
  }
  if (region.runs) {
    for (std::size_t i = 0; i < region.runs->size(); ++i) {
      const Run run = region.runs->run(i);
      cover.print = sum(cover.print, product(power(run.index), series(point, run.elements)));
    }
    return cover;
  }
  // The index is a sum over the dimensions, so the polynomial is a product over them.
  std::int64_t stride = 1;
  std::int64_t first = 0;
  cover.print = 1;
  for (auto d = static_cast<std::size_t>(shape.dimensions); d-- > 0;) {
    first += region.box.start[d] * stride;
    if (region.box.count[d] > 1) {
      cover.print = product(cover.print, series(power(stride), region.box.count[d]));
    }
    stride *= shape.extent[d];
  }
  cover.print = product(cover.print, power(first));
  return cover;
}

Cover cover_of_all(const Shape& shape) noexcept {
  const auto all = elements(shape);
  return {static_cast<std::uint64_t>(all), all == 0 ? 0 : series(point, all)};
}

}  // namespace iocomp::array
