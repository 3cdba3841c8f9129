// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/earlier_dataset.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/hdf5/dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {
Filters filters_of(const Properties& create) {
  constexpr std::size_t most_values = 64;
  Filters filters;
  const int count = H5Pget_nfilters(create.raw());
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::size_t values = most_values;
    filters.values.resize(most_values);
    filters.numbers.push_back(H5Pget_filter2(create.raw(), static_cast<unsigned>(i), &flags,
                                             &values, filters.values.data(), 0, nullptr, nullptr));
    filters.values.resize(std::min(values, most_values));
  }
  return filters;
}

EarlierDataset earlier_dataset(hid_t file, const std::string& name, const std::string& path) {
  const std::string action = "look at the dataset " + name + " in";
  const Dataset dataset{check(H5Dopen2(file, name.c_str(), H5P_DEFAULT), action, path)};
  const Space space{check(H5Dget_space(dataset.raw()), action, path)};
  const Properties create{check(H5Dget_create_plist(dataset.raw()), action, path)};
  EarlierDataset earlier;
  std::vector<hsize_t> extent(
      static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space.raw()), action, path)));
  check(H5Sget_simple_extent_dims(space.raw(), extent.data(), nullptr), action, path);
  earlier.records = extent.empty() ? 1 : static_cast<std::int64_t>(extent.front());
  if (H5Pget_layout(create.raw()) == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(extent.size());
    check(H5Pget_chunk(create.raw(), static_cast<int>(chunk.size()), chunk.data()), action, path);
    earlier.chunk = {chunk.begin(), chunk.end()};
    earlier.filters = filters_of(create);
  } else if (const haddr_t offset = H5Dget_offset(dataset.raw()); offset != HADDR_UNDEF) {
    earlier.offset = static_cast<std::int64_t>(offset);
  }
  earlier.header = address_of(dataset.raw(), path);
  return earlier;
}

}  // namespace iocomp::formats::h5
