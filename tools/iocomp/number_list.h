#pragma once

#include <string>
#include <vector>

namespace iocomp::command {

/// "0-3,8": runs of neighbours shortened. Empty for none.
[[nodiscard]] std::string ranges(const std::vector<int>& ascending);

/// Read the same. @throws Error{invalid_argument} naming `what` and the text.
[[nodiscard]] std::vector<int> read_ranges(const std::string& text, const std::string& what);

/// "0,1,2", in the order given.
[[nodiscard]] std::string comma_separated(const std::vector<int>& numbers);

}  // namespace iocomp::command
