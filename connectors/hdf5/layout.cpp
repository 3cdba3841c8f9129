// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/layout.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hdf5/identifier.h"
#include "hdf5/native.h"
#include "hdf5/selection_runs.h"

namespace iocomp::hdf5 {
namespace {

std::optional<std::vector<hsize_t>> chunk_of(hid_t creation_list) {
  H5D_alloc_time_t allocated = H5D_ALLOC_TIME_ERROR;
  if (H5Pget_nfilters(creation_list) != 0 || H5Pget_alloc_time(creation_list, &allocated) < 0 ||
      allocated != H5D_ALLOC_TIME_EARLY) {
    return std::nullopt;
  }
  std::vector<hsize_t> chunk(H5S_MAX_RANK);
  const int dimensions = H5Pget_chunk(creation_list, H5S_MAX_RANK, chunk.data());
  if (dimensions <= 0) {
    return std::nullopt;
  }
  chunk.resize(static_cast<std::size_t>(dimensions));
  return chunk;
}

}  // namespace

bool ContiguousLayout::prepare(std::span<const hsize_t> /*extent*/) {
  if (!offset_) {
    offset_ = native::offset(dataset_);
  }
  if (!offset_ && may_make_place_) {
    native::make_place(dataset_);
    offset_ = native::offset(dataset_);
  }
  return offset_.has_value();
}

std::optional<ByteRun> ContiguousLayout::place(const ByteRun& wanted) {
  return ByteRun{.offset = *offset_ + wanted.offset, .bytes = wanted.bytes};
}

ChunkedLayout::ChunkedLayout(void* dataset, std::vector<hsize_t> chunk, std::size_t element_bytes,
                             bool may_look_alone)
    : dataset_{dataset},
      chunk_{std::move(chunk)},
      element_bytes_{element_bytes},
      may_look_alone_{may_look_alone},
      known_(chunk_.size(), 0) {}

void ChunkedLayout::forget() {
  places_.clear();
  std::ranges::fill(known_, 0);
}

std::size_t ChunkedLayout::chunks_in_extent() const {
  std::size_t chunks = 1;
  for (std::size_t d = 0; d < chunk_.size(); ++d) {
    chunks *= (extent_[d] + chunk_[d] - 1) / chunk_[d];
  }
  return chunks;
}

bool ChunkedLayout::prepare(std::span<const hsize_t> extent) {
  if (extent.size() != chunk_.size()) {
    return false;
  }
  extent_.assign(extent.begin(), extent.end());
  return places_.size() == chunks_in_extent() || (may_look_alone_ && look());
}

void ChunkedLayout::look_together(std::span<const hsize_t> extent) {
  if (!may_look_alone_ && extent.size() == chunk_.size()) {
    extent_.assign(extent.begin(), extent.end());
    static_cast<void>(look());
  }
}

// HDF5 tells of all chunks or of none, so a dataset that gets one chunk more in each step takes
// longer in each step.
bool ChunkedLayout::is_worth_a_look() const {
  constexpr std::size_t bytes_written_meanwhile = 64;  // by HDF5, while it tells of one chunk
  const std::size_t chunks = chunks_in_extent();
  const std::size_t chunk_bytes =
      std::accumulate(chunk_.begin(), chunk_.end(), element_bytes_, std::multiplies<>{});
  return chunks * bytes_written_meanwhile <= (chunks - places_.size()) * chunk_bytes;
}

bool ChunkedLayout::look() {
  if (!is_worth_a_look()) {
    return false;
  }
  const std::size_t dimensions = chunk_.size();
  const bool is_told = native::find_chunks(dataset_, [&](const hsize_t* first, haddr_t place) {
    std::size_t d = 0;
    while (d < dimensions && first[d] < known_[d]) {
      ++d;
    }
    if (d == dimensions) {
      return;
    }
    std::vector<hsize_t> chunk(first, first + dimensions);
    for (d = 0; d < dimensions; ++d) {
      chunk[d] /= chunk_[d];
    }
    places_.emplace(std::move(chunk), place);
  });
  if (!is_told || places_.size() != chunks_in_extent()) {
    return false;
  }
  known_ = extent_;
  return true;
}

// A row of the array lies in several chunks; in one of them, its part follows that of the row
// before only if the chunk is as wide.
std::optional<ByteRun> ChunkedLayout::place(const ByteRun& wanted) {
  const std::size_t dimensions = chunk_.size();
  std::uint64_t element = wanted.offset / element_bytes_;
  const std::uint64_t in_element = wanted.offset % element_bytes_;
  std::uint64_t in_chunk = 0;
  std::uint64_t stride = 1;
  std::uint64_t left_in_row = 0;
  wanted_.resize(dimensions);
  for (std::size_t d = dimensions; d-- > 0;) {
    const hsize_t at = element % extent_[d];
    element /= extent_[d];
    wanted_[d] = at / chunk_[d];
    const hsize_t within = at % chunk_[d];
    in_chunk += within * stride;
    stride *= chunk_[d];
    if (d == dimensions - 1) {
      left_in_row = std::min(chunk_[d] - within, extent_[d] - at);
    }
  }
  const auto found = places_.find(wanted_);
  if (found == places_.end()) {
    return std::nullopt;
  }
  return ByteRun{.offset = found->second + in_chunk * element_bytes_ + in_element,
                 .bytes = std::min(wanted.bytes, left_in_row * element_bytes_ - in_element)};
}

std::unique_ptr<Layout> layout_of(void* dataset, hid_t creation_list, std::size_t element_bytes,
                                  Chunks chunks) {
  if (creation_list < 0 || H5Pget_external_count(creation_list) != 0) {
    return nullptr;
  }
  if (H5Pget_layout(creation_list) == H5D_CONTIGUOUS) {
    return std::make_unique<ContiguousLayout>(dataset, chunks == Chunks::left);
  }
  if (H5Pget_layout(creation_list) != H5D_CHUNKED || chunks == Chunks::left) {
    return nullptr;
  }
  auto chunk = chunk_of(creation_list);
  if (!chunk) {
    return nullptr;
  }
  return std::make_unique<ChunkedLayout>(dataset, *std::move(chunk), element_bytes,
                                         chunks == Chunks::found_alone);
}

}  // namespace iocomp::hdf5
