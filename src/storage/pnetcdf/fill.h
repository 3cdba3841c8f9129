#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "storage/descriptor.h"
#include "storage/variable.h"

namespace iocomp::storage::cdf {

/// Write the fill value of a variable, big-endian, to `bytes` of a CDF-5 file.
/// @param attributes  of the variable: _FillValue counts, if it is there.
/// @throws Error{storage_failure}.
void fill(const Descriptor& file, const std::string& path, std::int64_t offset, std::int64_t bytes,
          array::ElementType type, const Attributes& attributes);

/// The attributes of a variable in a description.
[[nodiscard]] Attributes attributes_of(int variable, const std::vector<Attributes>& all);

}  // namespace iocomp::storage::cdf
