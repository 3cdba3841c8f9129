// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

#include "base/descriptor.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// The contents of a file with `layout = "time"` at the moment when a job goes on with it.
struct EarlierRecords {
  /// @throws Error{storage_failure}.
  EarlierRecords(const Descriptor& opened, const std::string& path);

  std::map<std::string, EarlierDataset> datasets;  ///< by name
  Attributes attributes;                           ///< of the file
  std::map<std::string, Attributes> of_variable;   ///< by name
};

}  // namespace iocomp::formats::h5
