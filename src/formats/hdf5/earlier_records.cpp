#include "formats/hdf5/earlier_records.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/inventory.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

// Time is the first dimension.
array::Shape shape_of_record(const array::Shape& shape) {
  return array::make_shape(shape.dimensions - 1, shape.extent.data() + 1);
}

std::vector<std::int64_t> chunk_of(const Dataset& dataset, int dimensions) {
  const Properties create{H5Dget_create_plist(dataset.raw())};
  std::vector<hsize_t> chunk(static_cast<std::size_t>(dimensions));
  if (H5Pget_layout(create.raw()) != H5D_CHUNKED ||
      H5Pget_chunk(create.raw(), dimensions, chunk.data()) != dimensions) {
    return {};
  }
  return {chunk.begin(), chunk.end()};
}

}  // namespace

EarlierRecords::EarlierRecords(const std::string& path) {
  const File file{check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open", path)};
  auto inventory = inventory_of(file.raw(), path);
  attributes = std::move(inventory.attributes);
  of_variable = std::move(inventory.of_variable);
  for (const auto& placed : inventory.contents) {
    const Variable& found = placed.variable;
    if (found.shape.dimensions == 0) {
      continue;
    }
    const Dataset dataset{check(H5Dopen2(file.raw(), found.name.c_str(), H5P_DEFAULT),
                                "open the dataset " + found.name + " in", path)};
    EarlierDataset earlier;
    earlier.variable = found;
    earlier.variable.shape = shape_of_record(found.shape);
    earlier.records = found.shape.extent[0];
    earlier.chunk = chunk_of(dataset, found.shape.dimensions);
    earlier.header = address_of(dataset.raw(), path);
    datasets.emplace(found.name, std::move(earlier));
  }
}

}  // namespace iocomp::formats::h5
