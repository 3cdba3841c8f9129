// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hdf5/event.h"
#include "hdf5/filters.h"
#include "hdf5/open_dataset.h"
#include "hdf5/values.h"
#include "hdf5/writer.h"

namespace iocomp::hdf5 {

/// The chunks of a dataset with filters, in a file that this process alone has open. Their places
/// depend on their lengths, so HDF5 gets them as a whole, when they are filtered.
class FilteredChunks {
 public:
  /// Null for a dataset without filters, or with one that is not known here.
  [[nodiscard]] static std::unique_ptr<FilteredChunks> of(hid_t creation_list, hid_t type);

  /// A box of whole chunks; at the end of the dataset, what lies in it of them.
  struct Box {
    std::vector<hsize_t> first;
    std::vector<hsize_t> count;
  };
  /// The box that is selected. Nothing where chunks are selected in part.
  [[nodiscard]] std::optional<Box> whole_chunks(hid_t space, std::span<const hsize_t> extent) const;

  /// Copy the values, and begin to filter them. False, and nothing is done, where there is never
  /// enough memory for it, or no thread.
  /// @param event  the call they belong to; may be null.
  [[nodiscard]] bool write(const Box& box, Values& values,
                           const std::shared_ptr<OpenDataset>& dataset,
                           const std::shared_ptr<Event>& event, Writer& writer) const;

 private:
  FilteredChunks() = default;
  [[nodiscard]] std::vector<hsize_t> chunks_along(const Box& box) const;
  void fill(std::span<std::byte> memory) const;
  void copy(const Box& slab, Values& values, std::span<std::byte> memory) const;

  std::vector<hsize_t> chunk_;
  std::size_t chunk_bytes_ = 0;
  std::vector<std::byte> fill_value_;  // of one element: what a chunk holds beyond the dataset
  std::shared_ptr<const Filters> filters_;
};

}  // namespace iocomp::hdf5
