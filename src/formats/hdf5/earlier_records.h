#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/words.h"

namespace iocomp::formats::h5 {

/// A dataset along time that earlier jobs have written.
struct EarlierDataset {
  Variable variable;                ///< type and shape of a record
  std::int64_t records = 0;         ///< its extent along time
  std::vector<std::int64_t> chunk;  ///< extents, time first
  std::int64_t header = 0;          ///< address
};

/// What a file with `layout = "time"` has when a job goes on with it.
struct EarlierRecords {
  /// @throws Error{storage_failure}.
  explicit EarlierRecords(const std::string& path);

  std::map<std::string, EarlierDataset> datasets;  ///< by name
  Attributes attributes;                           ///< of the file
  std::map<std::string, Attributes> of_variable;   ///< by name
};

}  // namespace iocomp::formats::h5
