// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace iocomp {

/// "0-3,8": runs of neighbours shortened, as Linux writes lists of CPUs. Empty for none.
[[nodiscard]] std::string number_ranges(const std::vector<int>& ascending);
[[nodiscard]] std::string step_ranges(const std::vector<std::int64_t>& ascending);

}  // namespace iocomp
