// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan.h"
#include "reading/input.h"
#include "told.h"

namespace simulation {

/// The difference, if a step that a reader finds is not that which a file's programs have put.
/// @param in_file  the number that the file itself tells, if no manifest is read: then it has no
/// checksums.
[[nodiscard]] std::string difference(iocomp::reading::Input& input, const PlannedFile& file,
                                     std::int64_t step, std::optional<std::int64_t> in_file = {});

/// The fault of the variable "time" of a step, which nobody has to put.
[[nodiscard]] std::string difference_of_time(iocomp::reading::Input& input, std::int64_t step);

/// The difference, if the attributes are none of those that the programs have set.
[[nodiscard]] std::string difference_of_attributes(const iocomp::reading::Input& input,
                                                   const PlannedFile& file, const Told& told);

}  // namespace simulation
