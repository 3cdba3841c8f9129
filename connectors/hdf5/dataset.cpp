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

#include "hdf5/error_stack.h"
#include "hdf5/filtered_chunks.h"
#include "hdf5/identifier.h"
#include "hdf5/layout.h"
#include "hdf5/native.h"
#include "hdf5/open_dataset.h"
#include "hdf5/output.h"
#include "hdf5/pieces.h"
#include "hdf5/selection_runs.h"
#include "hdf5/values.h"
#include "hdf5/writer.h"

namespace iocomp::hdf5 {
namespace {

// Values that are the bytes of the file, and nothing that leads elsewhere. Texts of variable length
// are in HDF5's class of texts, also as a part of a type.
bool is_plain(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_NO_CLASS:
    case H5T_REFERENCE:
    case H5T_VLEN:
      return false;
    case H5T_STRING:
      return H5Tis_variable_str(type) == 0;
    case H5T_ARRAY:
      return is_plain(Datatype{H5Tget_super(type)}.raw());
    case H5T_COMPOUND:
      for (int member = 0; member < H5Tget_nmembers(type); ++member) {
        if (!is_plain(Datatype{H5Tget_member_type(type, static_cast<unsigned>(member))}.raw())) {
          return false;
        }
      }
      return true;
    default:
      return true;
  }
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
  without_notes([&] { length = H5Pget_data_transform(transfer_list, nullptr, 0); });  // fails: none
  return length > 0;
}

}  // namespace

std::unique_ptr<Dataset> Dataset::look_at(void* dataset, const native::Token& token,
                                          std::shared_ptr<Output> output) {
  const Datatype type = native::type(dataset);
  if (!type.is_valid() || !is_plain(type.raw())) {
    return nullptr;
  }
  const PropertyList list = native::creation_list(dataset);
  std::unique_ptr<Dataset> known{new Dataset{dataset, token, std::move(output)}};
  known->element_bytes_ = H5Tget_size(type.raw());
  known->layout_ = layout_of(dataset, list.raw(), known->element_bytes_, known->output().chunks);
  if (!known->layout_ && !known->output().is_shared()) {
    known->chunks_ = FilteredChunks::of(list.raw(), type.raw());
  }
  if (!known->layout_ && !known->chunks_) {
    return nullptr;
  }
  known->look_together();
  return known;
}

void Dataset::finish(Writer& writer) const {
  if (chunks_) {
    writer.finish(output(), token());
  } else {
    writer.finish(output());
  }
}

bool Dataset::stays_open() {
  if (open_.use_count() == 1) {
    return false;
  }
  open_->close_later();
  return true;
}

void Dataset::forget_places() {
  if (layout_) {
    layout_->forget();
  }
}

void Dataset::look_together() {
  if (!layout_) {
    return;
  }
  if (const auto extent = extent_of(native::space(open_->native()).raw())) {
    layout_->look_together(*extent);
  }
}

bool Dataset::shrinks_to(const hsize_t* extent) const {
  const Dataspace space = native::space(open_->native());
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

// All that HDF5 would refuse is left to it: it knows the words. No identifier is kept from one call
// to the next: HDF5 counts them among the objects that the program has open.
std::optional<Dataset::Selected> Dataset::look_at(const Request& request) {
  const bool is_from_list = request.memory_space == H5S_PLIST || request.file_space == H5S_PLIST;
  if (is_left_ || is_from_list || request.file_space == H5S_BLOCK ||
      has_transform(request.transfer_list) || (request.is_collective && !output().is_shared())) {
    return std::nullopt;
  }
  Selected selected{.whole = native::space(open_->native()), .type = native::type(open_->native())};
  if (H5Tequal(request.memory_type, selected.type.raw()) <= 0 &&
      !Conversion::is_possible(request.memory_type, selected.type.raw())) {
    return std::nullopt;
  }
  const hid_t whole = selected.whole.raw();
  auto extent = extent_of(whole);
  selected.file_space = request.file_space == H5S_ALL ? whole : request.file_space;
  if (!extent || H5Sextent_equal(selected.file_space, whole) <= 0 ||
      H5Sselect_valid(selected.file_space) <= 0) {
    return std::nullopt;
  }
  const hssize_t elements = H5Sget_select_npoints(selected.file_space);
  const bool is_array = request.memory_space != H5S_ALL && request.memory_space != H5S_BLOCK;
  if (elements < 0 || (is_array && (H5Sget_select_npoints(request.memory_space) != elements ||
                                    H5Sselect_valid(request.memory_space) <= 0))) {
    return std::nullopt;
  }
  selected.elements = static_cast<std::uint64_t>(elements);
  if (elements > 0 && (request.memory == nullptr || (layout_ && !layout_->prepare(*extent)))) {
    return std::nullopt;
  }
  selected.extent = *std::move(extent);
  return selected;
}

Values Dataset::values_of(const Request& request, const Selected& selected) const {
  const std::size_t size = H5Tget_size(request.memory_type);
  auto memory = request.memory_space == H5S_BLOCK ? SelectionRuns{selected.elements * size}
                : request.memory_space == H5S_ALL ? SelectionRuns{selected.file_space, size}
                                                  : SelectionRuns{request.memory_space, size};
  std::optional<Conversion> conversion;
  if (H5Tequal(request.memory_type, selected.type.raw()) <= 0) {
    conversion = {.from = request.memory_type,
                  .to = selected.type.raw(),
                  .transfer_list = request.transfer_list};
  }
  return {std::move(memory), request.memory, conversion};
}

Dataset::Runs Dataset::runs_of(const Request& request, std::uint64_t most_bytes) {
  const auto selected = look_at(request);
  if (!selected || !layout_ || selected->elements == 0) {
    return {};
  }
  SelectionRuns file{selected->file_space, element_bytes_};
  Pieces pieces;
  if (pieces.find(file, *layout_, most_bytes) != Pieces::Found::some) {
    return {};
  }
  return {.bytes = pieces.bytes(), .count = pieces.run_count()};
}

bool Dataset::write(const Request& request, Writer& writer) {
  if (writer.largest_copy_bytes() == 0) {
    return false;
  }
  const auto selected = look_at(request);
  return selected && (selected->elements == 0 || write(request, *selected, writer));
}

bool Dataset::write(const Request& request, const Selected& selected, Writer& writer) {
  Values values = values_of(request, selected);
  if (chunks_) {
    const auto box = chunks_->whole_chunks(selected.file_space, selected.extent);
    return box && chunks_->write(*box, values, open_, request.event, writer);
  }
  SelectionRuns file{selected.file_space, element_bytes_};
  const bool may_wait = request.event && values.lie_together(selected.elements * element_bytes_);
  Pieces pieces;
  for (;;) {
    const auto found = pieces.find(file, *layout_, writer.largest_copy_bytes());
    if (found != Pieces::Found::some) {
      return found == Pieces::Found::none;
    }
    if (may_wait && pieces.are_long()) {
      writer.submit(open_->output(), pieces.writes_in_place(values), {}, request.event);
      continue;
    }
    staging::Lease copy = writer.take(pieces.copy_bytes());
    pieces.fill(copy.bytes(), values);
    auto writes = pieces.writes(copy.bytes());
    writer.submit(open_->output(), std::move(writes), std::move(copy), request.event);
  }
}

}  // namespace iocomp::hdf5
