// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <vector>

#include "disk.h"
#include "job.h"
#include "plan.h"

namespace simulation {

/// Write what is on a disk into a folder of the real system, so that the tools of others can read
/// it: read_files.py. `promised.json` names each variable of each step that is promised; `expected`
/// has their values. @return false where nothing is promised, and so nothing is written.
bool write_real_files(const Plan& plan, const std::vector<Told>& told, const Disk& disk,
                      const std::filesystem::path& folder);

}  // namespace simulation
