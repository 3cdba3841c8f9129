#pragma once

#include <hdf5.h>

#include <string>

#include "formats/source.h"

namespace iocomp::formats::h5 {

/// What a file holds, whoever wrote it. Where the root has only groups that are called by numbers
/// they are steps, and datasets below them variables; else all datasets are variables of step 0,
/// called by their paths. Datasets and attributes that iocomp has no type for are left out.
/// @throws Error{storage_failure}.
[[nodiscard]] Inventory inventory_of(hid_t file, const std::string& path);

}  // namespace iocomp::formats::h5
