// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/library_filter.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "base/error.h"
#include "contents/dimensions.h"
#include "formats/format.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/plugins.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

constexpr const char* in_memory = "a file in memory";

bool is_of_library(const Compression& compression) {
  return compression.method == Compression::Method::filter;
}

// The extent of a chunk in the file, where netCDF has variables without time.
std::vector<hsize_t> chunk_in_file(const Variable& variable, const FormatOptions& options,
                                   const TimeChunks& chunks) {
  const bool has_time =
      options.has_strings || contents::dimensions_of(variable, options.one_step).has_time;
  return {chunks.shape.begin() + (has_time ? 0 : 1), chunks.shape.end()};
}

Type type_in_file(const Variable& variable, const FormatOptions& options) {
  if (options.has_strings) {
    return stored_as(variable).type;
  }
  return element_type(options.splits_complex_numbers ? array::part_of(variable.type)
                                                     : variable.type);
}

Dataset make(const File& file, const Variable& variable, const Type& type,
             const std::vector<hsize_t>& chunk, const Compression& compression, unsigned flags) {
  const Properties create{H5Pcreate(H5P_DATASET_CREATE)};
  const auto rank = static_cast<int>(chunk.size());
  H5Pset_chunk(create.raw(), rank, chunk.data());
  H5Pset_fill_time(create.raw(), H5D_FILL_TIME_NEVER);
  H5Pset_filter(create.raw(), compression.filter, flags, compression.value_count,
                compression.values.data());
  const Space space{H5Screate_simple(rank, chunk.data(), nullptr)};
  const std::string name = flags == H5Z_FLAG_OPTIONAL ? "chunk" : "tried";
  Dataset made{H5Dcreate2(file.raw(), name.c_str(), type.raw(), space.raw(), H5P_DEFAULT,
                          create.raw(), H5P_DEFAULT)};
  if (made.raw() < 0) {
    const Outcome why =
        outcome_of([&] { fail("make the dataset " + variable.name + " in", in_memory); });
    throw Error{ErrorCode::invalid_setting,
                "compression = \"" + std::to_string(compression.filter) + "\" of the variable \"" +
                    variable.name + "\": the filter cannot take it (" + why.story + ')'};
  }
  return made;
}

}  // namespace

void check_library_filters(const FormatOptions& options) {
  const Quiet quiet;
  const auto check_one = [](const Compression& compression) {
    if (!is_of_library(compression)) {
      return;
    }
    register_plugin_that_asks(compression.filter);
    unsigned can = 0;
    if (H5Zfilter_avail(compression.filter) <= 0 ||
        H5Zget_filter_info(compression.filter, &can) < 0 ||
        (can & H5Z_FILTER_CONFIG_ENCODE_ENABLED) == 0) {
      throw Error{ErrorCode::invalid_setting,
                  "compression = \"" + std::to_string(compression.filter) +
                      "\": HDF5 finds no filter with this number that compresses; " +
                      where_plugins_are};
    }
  };
  check_one(options.compression);
  for (const Storage& storage : options.storages) {
    check_one(storage.compression);
  }
}

void check_library_filter(const Variable& variable, const FormatOptions& options) {
  if (is_of_library(options.storage_of(variable.name).compression) &&
      TimeChunks{variable, options}.is_filtered) {
    (void)LibraryFilter{variable, options};
  }
}

LibraryFilter::LibraryFilter(const Variable& variable, const FormatOptions& options)
    : name_{variable.name}, shape_{variable.shape}, type_{type_in_file(variable, options)} {
  const Quiet quiet;
  const TimeChunks chunks{variable, options};
  const auto extent = chunk_in_file(variable, options, chunks);
  const Properties access{H5Pcreate(H5P_FILE_ACCESS)};
  constexpr std::size_t grows_by = std::size_t{1} << 20;
  check(H5Pset_fapl_core(access.raw(), grows_by, false), "open", in_memory);
  // HDF5 takes files in memory that have one name for the same.
  static std::int64_t files = 0;
  const std::string file = "iocomp-filter-" + std::to_string(++files);
  file_ = File{
      check(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.raw()), "open", in_memory)};
  // A filter that may be left out is asked for nothing.
  (void)make(file_, variable, type_, extent, chunks.compression, H5Z_FLAG_MANDATORY);
  dataset_ = make(file_, variable, type_, extent, chunks.compression, H5Z_FLAG_OPTIONAL);
}

std::vector<unsigned> LibraryFilter::values() const {
  return filters_of(Properties{check(H5Dget_create_plist(dataset_.raw()), "look at", in_memory)})
      .values;
}

std::uint32_t LibraryFilter::filter(std::span<const std::byte> whole,
                                    std::vector<std::byte>& to) const {
  const Quiet quiet;
  const std::string action = "filter a chunk of the variable \"" + name_ + "\" in";
  check(H5Dwrite(dataset_.raw(), type_.raw(), H5S_ALL, H5S_ALL, H5P_DEFAULT, whole.data()), action,
        in_memory);
  const std::vector<hsize_t> first(H5S_MAX_RANK, 0);
  hsize_t bytes = 0;
  check(H5Dget_chunk_storage_size(dataset_.raw(), first.data(), &bytes), action, in_memory);
  to.resize(bytes);
  std::uint32_t mask = 0;
#if H5_VERSION_GE(2, 0, 0)
  std::size_t room = to.size();
  const herr_t status =
      H5Dread_chunk2(dataset_.raw(), H5P_DEFAULT, first.data(), &mask, to.data(), &room);
#else
  const herr_t status = H5Dread_chunk(dataset_.raw(), H5P_DEFAULT, first.data(), &mask, to.data());
#endif
  check(status, action, in_memory);
  return mask;
}

}  // namespace iocomp::formats::h5
