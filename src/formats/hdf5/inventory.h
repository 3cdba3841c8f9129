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

/// Whether the first dimension of a dataset has no limit: in files that iocomp has written it
/// counts the steps.
[[nodiscard]] bool grows(hid_t dataset);

/// What a file holds, whoever wrote it. Where the root has only groups that are called by numbers
/// they are steps, and datasets below them variables; else all datasets are variables of step 0,
/// called by their paths. Datasets and attributes that iocomp has no type for are left out.
/// @throws Error{storage_failure}.
[[nodiscard]] Inventory inventory_of(hid_t file, const std::string& path);

/// The same of a file that iocomp has written with `layout = "time"`: the first dimension of its
/// datasets counts the steps. Nothing where one of them does not grow. Files of others have such
/// dimensions for other reasons.
[[nodiscard]] std::optional<Inventory> inventory_along_time(hid_t file, const std::string& path);

}  // namespace iocomp::formats::h5
