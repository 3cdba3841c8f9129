// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "disk.h"
#include "job.h"
#include "plan.h"

namespace simulation {

/// The outcome of a plan that ran.
struct Result {
  std::vector<std::string> violations{};
  std::int64_t faults = 0;  ///< power losses looked at, and what else went wrong on purpose
};

/// Is given each disk that is looked at, the job that has run, and what had been promised by then.
using Inspect = std::function<void(const Plan&, const Disk&, const std::vector<Told>&)>;

/// Make the files of a plan that exist before. @return what they have, by file.
[[nodiscard]] std::vector<Found> make_what_exists(const Plan& plan, Disk& disk,
                                                  std::vector<std::string>& violations);

/// Run one plan, and look at what is on the disk: at each power loss and at the end.
/// @param log   is told what happens, in words and in its order.
[[nodiscard]] Result run_history(const Plan& plan,
                                 const std::function<void(const std::string&)>& log = {},
                                 const Inspect& inspect = {});

}  // namespace simulation
