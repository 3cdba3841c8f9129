// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/short_runs.h"

#include <cstdint>
#include <string>

#include "array/element_type.h"
#include "base/byte_size.h"
#include "client/link.h"
#include "contents/variable.h"

namespace iocomp::client {

void ShortRuns::note(const contents::Variable& variable, std::int64_t runs, std::int64_t elements,
                     const char* why) {
  const auto element = static_cast<std::int64_t>(array::size_bytes(variable.type));
  if (runs < many || elements * element / runs > longest || !told_.insert(variable.id).second) {
    return;
  }
  link_.warn("file \"" + file_ + "\", variable \"" + variable.name + "\": " + std::to_string(runs) +
             " runs of " + format_bytes(elements * element / runs) +
             " are written one by one, because " + why);
}

}  // namespace iocomp::client
