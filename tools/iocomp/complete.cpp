// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "iocomp/misspelling.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {
namespace {

// "TEXT:{step,time,file}": what an option may be, where there are few.
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto begin = type.find('{');
  const auto end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return {};
  }
  std::vector<std::string> values;
  std::istringstream list{type.substr(begin + 1, end - begin - 1)};
  for (std::string value; std::getline(list, value, ',');) {
    values.push_back(value);
  }
  return values;
}

// The words that may come last. The last one of `words` is begun, and may be empty.
std::vector<std::string> next(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() < 2) {
    return subcommands_of(app);
  }
  const auto named = app.get_subcommands(
      [&words](const CLI::App* one) { return one->get_name() == words.front(); });
  if (named.empty()) {
    return {};
  }
  const CLI::App* const command = named.front();
  const std::string& before = words[words.size() - 2];
  if (before.starts_with('-')) {
    const CLI::Option* const option = command->get_option_no_throw(before);
    if (option != nullptr && option->get_expected_max() > 0) {
      return values_of(*option);
    }
  }
  return words.back().starts_with('-') ? options_of(*command) : std::vector<std::string>{};
}

}  // namespace

void add_complete(CLI::App& app, const std::vector<std::string>& words) {
  auto* command = app.add_subcommand("complete", "Print what may follow these words, for shells");
  command->prefix_command();
  command->callback([&app, words] {
    const std::string begun = words.empty() ? "" : words.back();
    for (const auto& word : next(app, words)) {
      if (word.starts_with(begun)) {
        fmt::print("{}\n", word);
      }
    }
  });
}

}  // namespace iocomp::command
