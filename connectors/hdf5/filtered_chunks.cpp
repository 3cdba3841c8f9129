// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/filtered_chunks.h"

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

#include "hdf5/event.h"
#include "hdf5/filters.h"
#include "hdf5/open_dataset.h"
#include "hdf5/packer.h"
#include "hdf5/values.h"
#include "hdf5/writer.h"
#include "staging/arena.h"

namespace iocomp::hdf5 {
namespace {

std::uint64_t product(std::span<const hsize_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{1}, std::multiplies<>{});
}

// Chunks at the end of the dataset that are not filtered are written by HDF5.
bool filters_all_chunks(hid_t creation_list) {
  unsigned options = 0;
  return H5Pget_chunk_opts(creation_list, &options) >= 0 &&
         (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) == 0;
}

// Count to the next row of a box, the last dimension left out. False behind the last one.
bool go_on(std::vector<hsize_t>& at, std::span<const hsize_t> count) {
  for (std::size_t d = at.size() - 1; d-- > 0;) {
    if (++at[d] < count[d]) {
      return true;
    }
    at[d] = 0;
  }
  return false;
}

}  // namespace

std::unique_ptr<FilteredChunks> FilteredChunks::of(hid_t creation_list, hid_t type) {
  auto filters = Filters::of(creation_list);
  if (!filters || !filters_all_chunks(creation_list)) {
    return nullptr;
  }
  std::unique_ptr<FilteredChunks> chunks{new FilteredChunks};
  chunks->filters_ = std::make_shared<const Filters>(*std::move(filters));
  chunks->chunk_.resize(H5S_MAX_RANK);
  const int dimensions = H5Pget_chunk(creation_list, H5S_MAX_RANK, chunks->chunk_.data());
  const std::size_t element_bytes = H5Tget_size(type);
  H5D_fill_value_t kind = H5D_FILL_VALUE_ERROR;
  if (dimensions <= 0 || H5Pfill_value_defined(creation_list, &kind) < 0) {
    return nullptr;
  }
  chunks->chunk_.resize(static_cast<std::size_t>(dimensions));
  chunks->chunk_bytes_ = product(chunks->chunk_) * element_bytes;
  chunks->fill_value_.resize(element_bytes);
  if (kind == H5D_FILL_VALUE_USER_DEFINED &&
      H5Pget_fill_value(creation_list, type, chunks->fill_value_.data()) < 0) {
    return nullptr;
  }
  return chunks;
}

std::optional<FilteredChunks::Box> FilteredChunks::whole_chunks(
    hid_t space, std::span<const hsize_t> extent) const {
  const H5S_sel_type kind = H5Sget_select_type(space);
  if (extent.size() != chunk_.size() || (kind != H5S_SEL_ALL && kind != H5S_SEL_HYPERSLABS)) {
    return std::nullopt;
  }
  Box box{.first = std::vector<hsize_t>(chunk_.size()),
          .count = std::vector<hsize_t>(chunk_.size())};
  std::vector<hsize_t> last(chunk_.size());
  if (H5Sget_select_bounds(space, box.first.data(), last.data()) < 0) {
    return std::nullopt;
  }
  for (std::size_t d = 0; d < chunk_.size(); ++d) {
    const hsize_t end = last[d] + 1;
    if (box.first[d] % chunk_[d] != 0 || (end % chunk_[d] != 0 && end != extent[d])) {
      return std::nullopt;
    }
    box.count[d] = end - box.first[d];
  }
  const hssize_t elements = H5Sget_select_npoints(space);
  const bool is_all_of_it = elements >= 0 && product(box.count) == static_cast<hsize_t>(elements);
  return is_all_of_it ? std::optional{std::move(box)} : std::nullopt;
}

std::vector<hsize_t> FilteredChunks::chunks_along(const Box& box) const {
  std::vector<hsize_t> chunks(chunk_.size());
  for (std::size_t d = 0; d < chunk_.size(); ++d) {
    chunks[d] = (box.count[d] + chunk_[d] - 1) / chunk_[d];
  }
  return chunks;
}

void FilteredChunks::fill(std::span<std::byte> memory) const {
  for (; !memory.empty(); memory = memory.subspan(fill_value_.size())) {
    std::ranges::copy(fill_value_, memory.begin());
  }
}

// The values come row by row, and a row goes through several chunks.
void FilteredChunks::copy(const Box& slab, Values& values, std::span<std::byte> memory) const {
  const auto chunks = chunks_along(slab);
  const std::size_t last = chunk_.size() - 1;
  const std::size_t element_bytes = fill_value_.size();
  std::vector<hsize_t> at(chunk_.size());
  do {
    std::uint64_t number = 0;  // of the row's first chunk
    std::uint64_t row = 0;     // in the chunk
    for (std::size_t d = 0; d < last; ++d) {
      number = number * chunks[d] + at[d] / chunk_[d];
      row = row * chunk_[d] + at[d] % chunk_[d];
    }
    number *= chunks[last];
    for (hsize_t begin = 0; begin < slab.count[last]; begin += chunk_[last], ++number) {
      const hsize_t elements = std::min(chunk_[last], slab.count[last] - begin);
      values.copy_to(memory.subspan(number * chunk_bytes_ + row * chunk_[last] * element_bytes,
                                    elements * element_bytes));
    }
  } while (go_on(at, slab.count));
}

bool FilteredChunks::write(const Box& box, Values& values,
                           const std::shared_ptr<OpenDataset>& dataset,
                           const std::shared_ptr<Event>& event, Writer& writer) const {
  Box slab = box;
  slab.count[0] = std::min(chunk_[0], box.count[0]);
  const auto chunks = chunks_along(slab);
  const std::size_t bytes = product(chunks) * chunk_bytes_;
  if (bytes > writer.largest_memory_bytes() || !writer.packs()) {
    return false;
  }
  for (hsize_t done = 0; done < box.count[0]; done += slab.count[0], slab.first[0] += chunk_[0]) {
    slab.count[0] = std::min(chunk_[0], box.count[0] - done);
    const auto memory = std::make_shared<staging::Lease>(writer.take(bytes));
    if (product(slab.count) * fill_value_.size() < bytes) {
      fill(memory->bytes());
    }
    copy(slab, values, memory->bytes());
    for (std::size_t number = 0; number < product(chunks); ++number) {
      std::vector<hsize_t> first(chunk_.size());
      std::size_t rest = number;
      for (std::size_t d = chunk_.size(); d-- > 0; rest /= chunks[d]) {
        first[d] = slab.first[d] + rest % chunks[d] * chunk_[d];
      }
      writer.pack({.dataset = dataset,
                   .filters = filters_,
                   .first = std::move(first),
                   .memory = memory,
                   .values = memory->bytes().subspan(number * chunk_bytes_, chunk_bytes_),
                   .event = event});
    }
  }
  return true;
}

}  // namespace iocomp::hdf5
