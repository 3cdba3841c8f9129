#include "storage/hdf5/time_dataset.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "storage/failure.h"
#include "storage/format.h"
#include "storage/hdf5/error.h"
#include "storage/hdf5/handle.h"
#include "storage/hdf5/types.h"
#include "storage/variable.h"

namespace iocomp::storage::h5 {
namespace {

constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t most_steps_in_chunk = 1024;

using Extents = std::array<hsize_t, array::max_dimensions + 1>;

// Records of a variable, and of one element of each.
Extents with_time(std::int64_t records, const array::Extents& extents, int dimensions) {
  Extents all{};
  all[0] = static_cast<hsize_t>(records);
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    all.at(d + 1) = static_cast<hsize_t>(extents.at(d));
  }
  return all;
}

bool has_fill_value(const Variable& variable) {
  return variable.fill_value && variable.fill_value->type == variable.type &&
         variable.fill_value->count() == 1;
}

}  // namespace

std::string time_dataset_name(const Variable& variable) { return '/' + variable.name; }

std::vector<std::int64_t> time_chunk(const Variable& variable, std::int64_t most_bytes) {
  const auto dimensions = static_cast<std::size_t>(variable.shape.dimensions);
  std::vector<std::int64_t> chunk{1};
  chunk.insert(chunk.end(), variable.shape.extent.begin(),
               variable.shape.extent.begin() + static_cast<std::ptrdiff_t>(dimensions));
  std::int64_t bytes = variable.bytes();
  if (bytes < page_bytes) {
    chunk[0] = std::min(page_bytes / bytes, most_steps_in_chunk);
  }
  for (std::size_t d = 1; d <= dimensions && bytes > most_bytes; ++d) {
    const std::int64_t row = bytes / chunk[d];
    const std::int64_t rows = std::max<std::int64_t>(most_bytes / row, 1);
    const std::int64_t parts = (chunk[d] + rows - 1) / rows;
    chunk[d] = (chunk[d] + parts - 1) / parts;  // of about the same length
    bytes = row * chunk[d];
  }
  return chunk;
}

TimeDataset::TimeDataset(hid_t file, const Variable& variable, const FormatOptions& options,
                         std::string path)
    : variable_{variable},
      path_{std::move(path)},
      chunk_{time_chunk(variable, options.chunk_bytes)},
      is_filtered_{options.deflate_level > 0 && variable.bytes() >= page_bytes},
      type_{element_type(variable.type)} {
  const std::string name = time_dataset_name(variable);
  const std::string action = "create the dataset " + name + " in";
  const Properties link{H5Pcreate(H5P_LINK_CREATE)};
  H5Pset_create_intermediate_group(link.raw(), 1);
  H5Pset_char_encoding(link.raw(), H5T_CSET_UTF8);
  const Properties create{H5Pcreate(H5P_DATASET_CREATE)};
  const std::vector<hsize_t> chunk{chunk_.begin(), chunk_.end()};
  check(H5Pset_chunk(create.raw(), static_cast<int>(chunk.size()), chunk.data()), action, path_);
  H5Pset_alloc_time(create.raw(), H5D_ALLOC_TIME_EARLY);
  // What passes no filter reads as 0 where nobody has written; whoever finishes the file fills.
  H5Pset_fill_time(create.raw(), is_filtered_ ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(create.raw(), false);
  if (has_fill_value(variable)) {
    check(H5Pset_fill_value(create.raw(), type_.raw(), variable.fill_value->values.data()), action,
          path_);
  }
  if (is_filtered_) {
    if (options.shuffle) {
      check(H5Pset_shuffle(create.raw()), action, path_);
    }
    check(H5Pset_deflate(create.raw(), static_cast<unsigned>(options.deflate_level)), action,
          path_);
  }
  const int dimensions = variable.shape.dimensions;
  const Extents extent = with_time(0, variable.shape.extent, dimensions);
  Extents most = extent;
  most[0] = H5S_UNLIMITED;
  const Space space{
      check(H5Screate_simple(dimensions + 1, extent.data(), most.data()), action, path_)};
  dataset_ = Dataset{check(H5Dcreate2(file, name.c_str(), type_.raw(), space.raw(), link.raw(),
                                      create.raw(), H5P_DEFAULT),
                           action, path_)};
}

std::int64_t TimeDataset::bytes_to(std::int64_t records, std::int64_t alignment) const {
  const auto chunks_along = [](std::int64_t extent, std::int64_t chunk) {
    return (extent + chunk - 1) / chunk;
  };
  std::int64_t chunks = chunks_along(records, chunk_[0]) - chunks_along(records_, chunk_[0]);
  std::int64_t bytes = static_cast<std::int64_t>(array::size_bytes(variable_.type)) * chunk_[0];
  for (std::size_t d = 1; d < chunk_.size(); ++d) {
    chunks *= chunks_along(variable_.shape.extent.at(d - 1), chunk_[d]);
    bytes *= chunk_[d];
  }
  // Through a filter: as many bytes and a few more, once when they are allotted, once when written.
  const std::int64_t each = is_filtered_ ? 2 * (bytes + bytes / 256 + page_bytes) : bytes;
  return chunks * (each + 2 * alignment);
}

void TimeDataset::grow_to(std::int64_t records) {
  if (records <= records_) {
    return;
  }
  const Extents extent = with_time(records, variable_.shape.extent, variable_.shape.dimensions);
  check(H5Dset_extent(dataset_.raw(), extent.data()),
        "make room for step " + std::to_string(records - 1) + " of the variable \"" +
            variable_.name + "\" in",
        path_);
  records_ = records;
}

Space TimeDataset::select(std::int64_t record, const std::vector<array::Box>& boxes) const {
  const std::string action = "write to the variable \"" + variable_.name + "\" in";
  Space space{check(H5Dget_space(dataset_.raw()), action, path_)};
  check(H5Sselect_none(space.raw()), action, path_);
  for (const auto& box : boxes) {
    Extents start = with_time(record, box.start, box.dimensions);
    const Extents count = with_time(1, box.count, box.dimensions);
    check(H5Sselect_hyperslab(space.raw(), H5S_SELECT_OR, start.data(), nullptr, count.data(),
                              nullptr),
          action, path_);
  }
  return space;
}

void TimeDataset::write(const Space& selected, std::int64_t elements, const std::byte* bytes,
                        bool together) {
  const std::string action = "write to the variable \"" + variable_.name + "\" in";
  const auto packed = static_cast<hsize_t>(std::max<std::int64_t>(elements, 1));
  const Space memory{check(H5Screate_simple(1, &packed, nullptr), action, path_)};
  if (elements == 0) {
    check(H5Sselect_none(memory.raw()), action, path_);
  }
  const Properties transfer{H5Pcreate(H5P_DATASET_XFER)};
  check(H5Pset_dxpl_mpio(transfer.raw(), together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
        action, path_);
  if (H5Dwrite(dataset_.raw(), type_.raw(), memory.raw(), selected.raw(), transfer.raw(), bytes) <
      0) {
    try {
      fail(action, path_);
    } catch (const Error& error) {
      throw Error{error.code(), std::string{error.what()} + "; " + cause_of_short_write(path_)};
    }
  }
}

}  // namespace iocomp::storage::h5
