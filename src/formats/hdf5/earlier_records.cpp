// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/earlier_records.h"

#include <hdf5.h>

#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/inventory.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
EarlierRecords::EarlierRecords(const Descriptor& opened, const std::string& path) {
  const Quiet quiet;
  const File file{
      check(H5Fopen(name_of(opened).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open", path)};
  auto inventory = inventory_of(file.raw(), path);
  attributes = std::move(inventory.attributes);
  of_variable = std::move(inventory.of_variable);
  for (const auto& placed : inventory.contents) {
    const Variable& found = placed.variable;
    if (datasets.contains(found.name)) {
      continue;  // it is in several steps
    }
    const Dataset dataset{H5Dopen2(file.raw(), found.name.c_str(), H5P_DEFAULT)};
    if (dataset.raw() < 0 || !counts_steps(dataset.raw())) {
      throw Error{ErrorCode::unsupported, "cannot go on with " + path + ": \"" + found.name +
                                              "\" was not written with layout = \"time\""};
    }
    auto earlier = earlier_dataset(file.raw(), found.name, path);
    earlier.variable = found;
    datasets.emplace(found.name, std::move(earlier));
  }
}

}  // namespace iocomp::formats::h5
