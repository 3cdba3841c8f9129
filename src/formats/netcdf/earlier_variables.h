// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "contents/dimensions.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// A variable of a NetCDF-4 file that earlier jobs have written.
struct EarlierVariable {
  h5::EarlierDataset dataset;  ///< its variable with the fill value
  contents::Dimensions dimensions;
};

/// The contents of a series of NetCDF-4 at the moment when a job goes on with it.
struct EarlierVariables {
  /// @throws Error{storage_failure}; Error{unsupported} where the file has what iocomp does not
  /// write.
  EarlierVariables(const Descriptor& opened, const std::string& path);

  std::vector<EarlierVariable> variables;         ///< in their order in the file
  Attributes attributes;                          ///< of the file
  std::map<std::string, Attributes> of_variable;  ///< by name
};

}  // namespace iocomp::formats::cdf
