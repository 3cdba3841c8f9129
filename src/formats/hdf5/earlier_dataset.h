// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "formats/words.h"

namespace iocomp::formats::h5 {

/// A dataset that earlier jobs have written.
struct EarlierDataset {
  Variable variable;                ///< type and shape of a record
  std::int64_t records = 0;         ///< its extent along time
  std::vector<std::int64_t> chunk;  ///< extents, time first; none: its data are in one piece ...
  std::int64_t offset = -1;         ///< ... here
  std::vector<int> filters;         ///< that chunks go through: HDF5's numbers, in their order
  std::vector<unsigned> filter_values;  ///< of the last one
  std::int64_t header = 0;              ///< address
};
/// Reads the description of a dataset from HDF5: all members but the variable.
/// @param name  of the dataset. Its first dimension counts the records.
/// @throws Error{storage_failure}.
[[nodiscard]] EarlierDataset earlier_dataset(hid_t file, const std::string& name,
                                             const std::string& path);

}  // namespace iocomp::formats::h5
