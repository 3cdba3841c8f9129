// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/dataset.h"

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hdf5/identifier.h"
#include "hdf5/layout.h"
#include "hdf5/native.h"
#include "hdf5/output.h"
#include "hdf5/pieces.h"
#include "hdf5/selection_runs.h"
#include "hdf5/writer.h"

namespace iocomp::hdf5 {
namespace {

// Values that are the bytes of the file, and nothing that leads elsewhere.
bool is_plain(hid_t type) {
  return H5Tdetect_class(type, H5T_VLEN) == 0 && H5Tdetect_class(type, H5T_REFERENCE) == 0 &&
         H5Tis_variable_str(type) == 0;
}

std::optional<std::vector<hsize_t>> extent_of(hid_t space) {
  std::vector<hsize_t> extent(H5S_MAX_RANK);
  const int dimensions = H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  if (dimensions < 0) {
    return std::nullopt;
  }
  extent.resize(static_cast<std::size_t>(dimensions));
  return extent;
}

bool has_transform(hid_t transfer_list) {
  if (transfer_list == H5P_DATASET_XFER_DEFAULT) {
    return false;
  }
  ssize_t length = 0;
  H5E_BEGIN_TRY { length = H5Pget_data_transform(transfer_list, nullptr, 0); }  // fails: none
  H5E_END_TRY
  return length > 0;
}

}  // namespace

Dataset::Dataset(void* dataset, std::shared_ptr<Output> output, Datatype type,
                 std::size_t element_bytes, std::unique_ptr<Layout> layout)
    : dataset_{dataset},
      output_{std::move(output)},
      type_{std::move(type)},
      element_bytes_{element_bytes},
      layout_{std::move(layout)} {}

std::unique_ptr<Dataset> Dataset::look_at(void* dataset, std::shared_ptr<Output> output,
                                          bool allows_chunks) {
  const Datatype of_file = native::type(dataset);
  if (!of_file.is_valid() || !is_plain(of_file.raw())) {
    return nullptr;
  }
  Datatype type{H5Tcopy(of_file.raw())};  // it may have a name, and count as an object of the file
  const std::size_t element_bytes = H5Tget_size(type.raw());
  auto layout = layout_of(dataset, element_bytes, allows_chunks);
  if (!layout) {
    return nullptr;
  }
  return std::unique_ptr<Dataset>{
      new Dataset{dataset, std::move(output), std::move(type), element_bytes, std::move(layout)}};
}

bool Dataset::shrinks_to(const hsize_t* extent) const {
  const Dataspace space = native::space(dataset_);
  const auto now = extent_of(space.raw());
  if (!now) {
    return true;
  }
  for (std::size_t d = 0; d < now->size(); ++d) {
    if (extent[d] < (*now)[d]) {
      return true;
    }
  }
  return false;
}

// All that HDF5 would refuse is left to it: it knows the words.
bool Dataset::write(const Request& request, Writer& writer) {
  const bool is_from_list = request.memory_space == H5S_PLIST || request.file_space == H5S_PLIST;
  if (is_left_ || writer.largest_copy_bytes() == 0 || is_from_list ||
      request.file_space == H5S_BLOCK || H5Tequal(request.memory_type, type_.raw()) <= 0 ||
      has_transform(request.transfer_list)) {
    return false;
  }
  const Dataspace whole = native::space(dataset_);
  const auto extent = extent_of(whole.raw());
  const hid_t file_space = request.file_space == H5S_ALL ? whole.raw() : request.file_space;
  if (!extent || H5Sextent_equal(file_space, whole.raw()) <= 0 ||
      H5Sselect_valid(file_space) <= 0) {
    return false;
  }
  const hssize_t elements = H5Sget_select_npoints(file_space);
  const bool is_array = request.memory_space != H5S_ALL && request.memory_space != H5S_BLOCK;
  if (elements < 0 || (is_array && (H5Sget_select_npoints(request.memory_space) != elements ||
                                    H5Sselect_valid(request.memory_space) <= 0))) {
    return false;
  }
  if (elements == 0) {
    return true;
  }
  return request.memory != nullptr && layout_->prepare(*extent) &&
         copy(request, file_space, static_cast<std::uint64_t>(elements) * element_bytes_, writer);
}

bool Dataset::copy(const Request& request, hid_t file_space, std::uint64_t bytes, Writer& writer) {
  SelectionRuns file{file_space, element_bytes_};
  auto memory = request.memory_space == H5S_BLOCK ? SelectionRuns{bytes}
                : request.memory_space == H5S_ALL
                    ? SelectionRuns{file_space, element_bytes_}
                    : SelectionRuns{request.memory_space, element_bytes_};
  Pieces pieces;
  for (;;) {
    const auto found = pieces.find(file, *layout_, writer.largest_copy_bytes());
    if (found != Pieces::Found::some) {
      return found == Pieces::Found::none;
    }
    staging::Lease copy = writer.take(pieces.copy_bytes());
    pieces.fill(copy.bytes(), memory, static_cast<const std::byte*>(request.memory));
    auto writes = pieces.writes(copy.bytes());
    writer.submit(output_, std::move(writes), std::move(copy));
  }
}

}  // namespace iocomp::hdf5
