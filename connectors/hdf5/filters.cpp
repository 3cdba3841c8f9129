// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/filters.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compress/bench.h"
#include "compress/deflate.h"
#include "compress/shuffle.h"
#include "compress/zstd.h"

namespace iocomp::hdf5 {
namespace {

constexpr H5Z_filter_t zstandard = 32015;  // as registered with The HDF Group
constexpr unsigned usual_level_of_zstandard = 3;
constexpr std::size_t checksum_bytes = 4;

// HDF5 skips an optional filter that it does not have: what was filtered here it could not read.
bool is_hdf5s(H5Z_filter_t filter) {
  unsigned abilities = 0;
  return H5Zfilter_avail(filter) > 0 && H5Zget_filter_info(filter, &abilities) >= 0 &&
         (abilities & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0;
}

bool is_known(H5Z_filter_t filter) {
  switch (filter) {
    case H5Z_FILTER_SHUFFLE:
    case H5Z_FILTER_FLETCHER32:
      return true;
    case H5Z_FILTER_DEFLATE:
      return compress::has_deflate();
    case zstandard:
      return compress::has_zstd();
    default:
      return false;
  }
}

// Fletcher's checksum of words of two bytes, the first of which counts more (RFC 1146, with 16
// bits), as HDF5 has it: the last byte of an odd number is a word with nothing behind it.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  constexpr std::size_t words_at_once = 360;  // the sums do not overflow until then
  constexpr std::uint32_t low = 0xffff;
  std::uint32_t sum = 0;
  std::uint32_t sum_of_sums = 0;
  const auto fold = [](std::uint32_t value) { return (value & low) + (value >> 16U); };
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.size(), at + 2 * words_at_once);
    for (; at < end; at += 2) {
      const auto first = std::to_integer<std::uint32_t>(bytes[at]);
      const auto second = at + 1 < end ? std::to_integer<std::uint32_t>(bytes[at + 1]) : 0U;
      sum += first << 8U | second;
      sum_of_sums += sum;
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  return fold(sum_of_sums) << 16U | fold(sum);
}

void append_checksum(std::vector<std::byte>& bytes) {
  const std::uint32_t checksum = fletcher32(bytes);
  for (std::size_t byte = 0; byte < checksum_bytes; ++byte) {
    bytes.push_back(static_cast<std::byte>(checksum >> (8 * byte)));
  }
}

}  // namespace

std::optional<Filters> Filters::of(hid_t creation_list) {
  Filters known;
  const int count = H5Pget_nfilters(creation_list);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::array<unsigned, 8> values{};
    std::size_t found = values.size();
    const H5Z_filter_t number = H5Pget_filter2(creation_list, static_cast<unsigned>(i), &flags,
                                               &found, values.data(), 0, nullptr, nullptr);
    const bool is_there =
        std::ranges::find(known.filters_, number, &Filter::number) != known.filters_.end();
    if (is_there || !is_known(number) || !is_hdf5s(number)) {
      return std::nullopt;
    }
    const bool has_usual_level = number == zstandard && found == 0;
    known.filters_.push_back(
        {.number = number, .value = has_usual_level ? usual_level_of_zstandard : values[0]});
  }
  return known.filters_.empty() ? std::nullopt : std::optional{std::move(known)};
}

void Filters::apply(std::span<const std::byte> chunk, compress::Bench& bench,
                    std::vector<std::byte>& to) const {
  for (const Filter& filter : filters_) {
    switch (filter.number) {
      case H5Z_FILTER_SHUFFLE:
        chunk = compress::shuffled(chunk, filter.value, bench);
        break;
      case H5Z_FILTER_DEFLATE:
        chunk = compress::pack_deflate(chunk, static_cast<int>(filter.value),
                                       compress::Wrapping::zlib, bench);
        break;
      case zstandard:
        chunk = compress::pack_zstd(chunk, static_cast<int>(filter.value), false, bench);
        break;
      default:
        to.assign(chunk.begin(), chunk.end());
        append_checksum(to);
        chunk = to;
    }
  }
  if (chunk.data() != to.data()) {
    to.assign(chunk.begin(), chunk.end());
  }
}

}  // namespace iocomp::hdf5
