#include "storage/hdf5/records.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "storage/hdf5/buffer_driver.h"
#include "storage/hdf5/error.h"
#include "storage/variable.h"

namespace iocomp::storage::h5 {
namespace {

constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t most_records_in_chunk = 1024;

using Extents = std::array<hsize_t, array::max_dimensions + 1>;

// A chunk has its full size in the file even where the dataset ends within it. That may leave a gap
// behind a record, but not inside: only its slowest dimension is cut in parts of any length.
std::int64_t part_of(std::int64_t extent, std::int64_t most, bool is_slowest) {
  const std::int64_t parts = (extent + most - 1) / most;
  std::int64_t part = (extent + parts - 1) / parts;
  while (!is_slowest && extent % part != 0) {
    --part;
  }
  return part;
}

std::vector<std::int64_t> chunk_of(const Variable& variable, std::int64_t most_bytes) {
  const auto dimensions = static_cast<std::ptrdiff_t>(variable.shape.dimensions);
  std::int64_t bytes = variable.bytes();
  std::vector<std::int64_t> chunk{
      bytes < page_bytes ? std::min(page_bytes / bytes, most_records_in_chunk) : 1};
  chunk.insert(chunk.end(), variable.shape.extent.begin(),
               variable.shape.extent.begin() + dimensions);
  for (std::size_t d = 1; d < chunk.size() && bytes > most_bytes; ++d) {
    const std::int64_t row = bytes / chunk[d];
    chunk[d] = part_of(chunk[d], std::max<std::int64_t>(most_bytes / row, 1), d == 1);
    bytes = row * chunk[d];
  }
  return chunk;
}

}  // namespace

Records::Records(const Variable& variable, std::int64_t most_bytes)
    : variable_{variable},
      chunk_{chunk_of(variable, most_bytes)},
      record_bytes_{variable.bytes()},
      chunk_bytes_{std::accumulate(chunk_.begin(), chunk_.end(),
                                   static_cast<std::int64_t>(array::size_bytes(variable.type)),
                                   std::multiplies<>{})} {}

std::int64_t Records::place(hid_t file, std::int64_t record) {
  const std::int64_t group = record / chunk_[0];
  auto known = groups_.find(group);
  if (known == groups_.end()) {
    std::int64_t chunks = 1;
    for (std::size_t d = 1; d < chunk_.size(); ++d) {
      chunks *= (variable_.shape.extent.at(d - 1) + chunk_[d] - 1) / chunk_[d];
    }
    known = groups_.emplace(group, allot(file, chunks * chunk_bytes_)).first;
    to_note_.push_back(group);
  }
  return known->second + record % chunk_[0] * record_bytes_;
}

std::int64_t Records::offset(std::int64_t record) const {
  const auto known = groups_.find(record / chunk_[0]);
  return known == groups_.end() ? -1 : known->second + record % chunk_[0] * record_bytes_;
}

void Records::grow(hid_t dataset, std::int64_t records, const std::string& path) {
  if (records == extent_) {
    return;
  }
  Extents extent{static_cast<hsize_t>(records)};
  std::copy_n(variable_.shape.extent.begin(), variable_.shape.dimensions,
              std::next(extent.begin()));
  check(H5Dset_extent(dataset, extent.data()),
        "make room for " + std::to_string(records) + " steps of the variable \"" + variable_.name +
            "\" in",
        path);
  extent_ = records;
}

void Records::note_group(hid_t file, hid_t dataset, std::int64_t group, const std::string& path) {
  Extents corner{static_cast<hsize_t>(group * chunk_[0])};
  std::int64_t offset = groups_.at(group);
  std::size_t d = 0;
  do {
    check(note_chunk(file, dataset, corner.data(), offset, chunk_bytes_),
          "add a part of the variable \"" + variable_.name + "\" to", path);
    offset += chunk_bytes_;
    for (d = chunk_.size() - 1; d > 0; --d) {
      corner.at(d) += static_cast<hsize_t>(chunk_[d]);
      if (corner.at(d) < static_cast<hsize_t>(variable_.shape.extent.at(d - 1))) {
        break;
      }
      corner.at(d) = 0;
    }
  } while (d > 0);
}

void Records::note(hid_t file, hid_t dataset, const std::string& path) {
  if (to_note_.empty() || (chunk_[0] > 1 && to_note_.size() == 1)) {
    return;
  }
  const std::int64_t last = *std::ranges::max_element(to_note_);
  std::vector<std::int64_t> later;
  if (chunk_[0] > 1) {
    std::erase(to_note_, last);
    later.push_back(last);
  }
  const std::int64_t highest = *std::ranges::max_element(to_note_);
  grow(dataset, std::max(extent_, (highest + 1) * chunk_[0]), path);
  for (const auto group : std::exchange(to_note_, std::move(later))) {
    note_group(file, dataset, group, path);
  }
}

void Records::note_all(hid_t file, hid_t dataset, std::int64_t records, const std::string& path) {
  grow(dataset, records, path);
  for (const auto group : std::exchange(to_note_, {})) {
    if (group * chunk_[0] < records) {
      note_group(file, dataset, group, path);
    }
  }
}

}  // namespace iocomp::storage::h5
