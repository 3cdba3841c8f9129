// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "formats/hdf5/handle.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// The filters that chunks of a dataset go through.
struct Filters {
  std::vector<int> numbers{};      ///< HDF5's, in their order
  std::vector<unsigned> values{};  ///< of the last one
};
/// @param create  the properties with which the dataset was made.
[[nodiscard]] Filters filters_of(const Properties& create);

/// A dataset that earlier jobs have written.
struct EarlierDataset {
  Variable variable;                ///< type and shape of a record
  std::int64_t records = 0;         ///< its extent along time
  std::vector<std::int64_t> chunk;  ///< extents, time first; none: its data are in one piece ...
  std::int64_t offset = -1;         ///< ... here
  Filters filters;
  std::int64_t header = 0;  ///< address
};
/// Reads the description of a dataset from HDF5: all members but the variable.
/// @param name  of the dataset. Its first dimension counts the records.
/// @throws Error{storage_failure}.
[[nodiscard]] EarlierDataset earlier_dataset(hid_t file, const std::string& name,
                                             const std::string& path);

}  // namespace iocomp::formats::h5
