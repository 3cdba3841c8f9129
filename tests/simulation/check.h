// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "disk.h"
#include "plan.h"
#include "told.h"

namespace simulation {

/// What is planned for a file, less the puts that were refused.
[[nodiscard]] PlannedFile what_was_put(PlannedFile file, const Told& told);

/// What a reader finds on a disk, compared with what was told. Violations in words.
/// @param found  is given the steps that are there, by file.
/// @param files  those that are looked at; null: all.
[[nodiscard]] std::vector<std::string> check_disk(const Plan& plan, const std::vector<Told>& told,
                                                  Disk& disk, const std::string& when,
                                                  std::vector<Steps>* found = nullptr,
                                                  const std::vector<std::size_t>* files = nullptr);

/// The names that a clean end leaves behind and should not.
[[nodiscard]] std::vector<std::string> left_behind(const Disk& disk);

}  // namespace simulation
