#pragma once

#include <string>
#include <vector>

namespace iocomp {

/// "0-3,8": runs of neighbours shortened, as Linux writes lists of CPUs. Empty for none.
[[nodiscard]] std::string number_ranges(const std::vector<int>& ascending);

}  // namespace iocomp
