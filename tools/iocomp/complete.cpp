// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "iocomp/misspelling.h"
#include "iocomp/own_words.h"
#include "iocomp/python_program.h"
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
std::vector<std::string> next(CLI::App& app, const std::vector<std::string>& words) {
  ask_for_words(app);
  if (words.size() < 2) {
    return words.empty() || !words.back().starts_with('-') ? subcommands_of(app) : options_of(app);
  }
  const auto named =
      app.get_subcommands([&words](CLI::App* one) { return one->get_name() == words.front(); });
  if (!named.empty()) {
    return next(*named.front(), {words.begin() + 1, words.end()});
  }
  const std::vector<std::string> before{words.begin(), words.end() - 1};
  const bool is_of_program =
      app.get_help_ptr() != nullptr && own_words(app, before) < before.size();
  if (is_of_program || std::ranges::find(before, "--") != before.end()) {
    return {};
  }
  if (const auto* option = app.get_option_no_throw(before.back());
      before.back().starts_with('-') && option != nullptr && option->get_expected_max() > 0) {
    return values_of(*option);
  }
  return words.back().starts_with('-') && app.get_parent() != nullptr ? options_of(app)
                                                                      : std::vector<std::string>{};
}

}  // namespace

void add_complete(CLI::App& app, const std::vector<std::string>& words) {
  auto* command = app.add_subcommand("complete", "Print what may follow these words, for shells");
  command->prefix_command();
  command->set_help_flag();
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
