// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/source.h"

namespace iocomp::formats::h5 {

/// The step that a group at the root is called by: "12" is one, "012" is a name.
[[nodiscard]] std::optional<std::int64_t> step_number(std::string_view name);

/// True if the groups of steps are called by the numbers of these. In files of earlier releases
/// they were called by their place, from 0 on, which is never above the number.
/// @param newest  the number of the newest step that has variables.
[[nodiscard]] bool are_called_by_number(hid_t file, std::int64_t newest);

/// True if all groups at the root are called as those of steps are.
/// @throws Error{storage_failure}.
[[nodiscard]] bool has_groups_of_steps(hid_t file, const std::string& path);

/// True if iocomp has written it with `layout = "time"`: it grows, is cut and filled so. What other
/// programs make of its files keeps that.
[[nodiscard]] bool counts_steps(hid_t dataset);

/// True if netCDF has written the file, and no group into it: netCDF notes its own version, or the
/// numbers of its dimensions.
[[nodiscard]] bool is_of_netcdf(hid_t file);

/// The contents of a file, whichever program wrote it:
/// - If all groups at the root are called by numbers, they are steps, and datasets below them are
///   variables. ADIOS2's groups are called "Step0".
/// - Else datasets are variables, called by their paths. The first dimension counts the steps if
///   iocomp wrote the dataset with `layout = "time"`. All others are in step 0.
/// - Members of compounds are variables, called `dataset.member`. Texts of any length are as long
/// as
///   the longest of their dataset.
/// Datasets that iocomp has no type for are named, with the reason; such attributes are left out.
/// @throws Error{storage_failure}.
[[nodiscard]] Inventory inventory_of(hid_t file, const std::string& path);

}  // namespace iocomp::formats::h5
