// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/misspelling.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"

namespace iocomp::command {
namespace {

std::string guessed(const std::string& word, const std::vector<std::string>& known) {
  const auto guess = did_you_mean(word, known);
  return guess.empty() ? ";" : guess;
}

}  // namespace

std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* one :
       app.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); })) {
    names.push_back(one->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* one : command.get_options([&command](const CLI::Option* any) {
         return any->nonpositional() && any != command.get_help_ptr();
       })) {
    names.push_back(one->get_lnames().empty() ? "-" + one->get_snames().front()
                                              : "--" + one->get_lnames().front());
  }
  return names;
}

void check_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) {
    return;
  }
  const auto& word = words.front();
  const auto same =
      app.get_subcommands([&word](const CLI::App* one) { return one->get_name() == word; });
  if (same.empty()) {
    throw Error{ErrorCode::invalid_argument, "there is no subcommand " + word +
                                                 guessed(word, subcommands_of(app)) +
                                                 " `iocomp --help` lists all"};
  }
}

Error unexpected(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const auto words = app.remaining(true);
  const std::string name = command.get_name();
  const std::string word = words.empty() ? "" : words.front();
  const bool is_option = word.starts_with('-');
  return Error{ErrorCode::invalid_argument,
               name +
                   (is_option ? " has no option " + word + guessed(word, options_of(command))
                              : " takes no more words, but there is " + word + ";") +
                   " `iocomp " + name + " --help` tells what it takes"};
}

}  // namespace iocomp::command
