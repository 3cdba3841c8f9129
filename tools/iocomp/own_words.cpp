// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/own_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace iocomp::command {

std::size_t own_words(const CLI::App& command, const std::vector<std::string>& words) {
  if (!command.get_prefix_command()) {
    return words.size();
  }
  if (command.get_help_ptr() == nullptr) {
    return 0;
  }
  const auto program = std::ranges::find_if(
      words, [](const std::string& word) { return word == "--" || !word.starts_with('-'); });
  return static_cast<std::size_t>(program - words.begin());
}

void take_list(CLI::Option& option, const std::string& value) {
  option.delimiter(',')->allow_extra_args(false)->option_text(value + "[," + value + "]...");
}

}  // namespace iocomp::command
