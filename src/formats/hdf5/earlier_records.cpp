// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/earlier_records.h"

#include <hdf5.h>

#include <string>
#include <utility>

#include "array/box.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "formats/hdf5/earlier_dataset.h"
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

}  // namespace

EarlierRecords::EarlierRecords(const Descriptor& opened, const std::string& path) {
  const Quiet quiet;
  const File file{
      check(H5Fopen(name_of(opened).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open", path)};
  auto inventory = inventory_of(file.raw(), path);
  attributes = std::move(inventory.attributes);
  of_variable = std::move(inventory.of_variable);
  for (const auto& placed : inventory.contents) {
    const Variable& found = placed.variable;
    if (found.shape.dimensions == 0) {
      continue;
    }
    const bool is_there = H5Lexists(file.raw(), found.name.c_str(), H5P_DEFAULT) > 0;
    auto earlier = is_there ? earlier_dataset(file.raw(), found.name, path) : EarlierDataset{};
    if (earlier.chunk.empty()) {
      throw Error{ErrorCode::unsupported,
                  "cannot go on with " + path + ": it was not written with layout = \"time\""};
    }
    earlier.variable = found;
    earlier.variable.shape = shape_of_record(found.shape);
    datasets.emplace(found.name, std::move(earlier));
  }
}

}  // namespace iocomp::formats::h5
