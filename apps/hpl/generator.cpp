// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/generator.h"

namespace iocomp::apps::hpl {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

inline std::uint64_t mixed(std::uint64_t state) noexcept {
  state = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9U;
  state = (state ^ (state >> 27U)) * 0x94d049bb133111ebU;
  return state ^ (state >> 31U);
}

}  // namespace

Generator::Generator(std::int64_t size, std::uint64_t seed, std::int64_t repetition) noexcept
    : size_{size}, stream_{mixed(mixed(seed + golden) + static_cast<std::uint64_t>(repetition))} {}

void Generator::fill(std::int64_t index, std::span<double> values) const noexcept {
  constexpr double step = 0x1p-53;
  const std::uint64_t before = stream_ + static_cast<std::uint64_t>(index) * golden;
  double* const to = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = mixed(before + (i + 1) * golden) >> 11U;
    to[i] = static_cast<double>(static_cast<std::int64_t>(bits)) * step - 0.5;
  }
}

void Generator::fill(const Layout& layout, double* matrix) const noexcept {
  for_each_piece(layout,
                 [&](std::int64_t at, std::int64_t row, std::int64_t column, std::int64_t length) {
                   fill(column * size_ + row, {matrix + at, static_cast<std::size_t>(length)});
                 });
}

void Generator::fill_right(const Layout& layout, double* values) const noexcept {
  for_each_piece(vector_layout(layout),
                 [&](std::int64_t at, std::int64_t row, std::int64_t, std::int64_t length) {
                   fill_right(row, {values + at, static_cast<std::size_t>(length)});
                 });
}

}  // namespace iocomp::apps::hpl
