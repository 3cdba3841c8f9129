// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <adios2.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "array/box.h"
#include "formats/words.h"

namespace iocomp::formats::bp {

/// Read a box of a variable in the step that is open, dense.
/// @throws Error{storage_failure} where that step has no such variable, or one of another type or
/// shape.
void get(adios2::IO& io, adios2::Engine& engine, const Variable& variable, const array::Box& box,
         std::byte* values);

/// The variables of the step that is open, by name.
/// @param not_read  gets the names of those that cannot be read, and why.
[[nodiscard]] std::vector<Variable> variables_in(adios2::IO& io,
                                                 std::map<std::string, std::string>& not_read);

/// All attributes of a dataset, of whichever step. Local.
/// @param name  of its folder, for ADIOS2. @throws Error{storage_failure}.
[[nodiscard]] Inventory attributes_of_all_steps(const std::string& name);

}  // namespace iocomp::formats::bp
