// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/settings.h"
#include "iocomp/settings_here.h"
#include "iocomp/subcommands.h"
#include "iocomp/table.h"

namespace iocomp::command {
namespace {

struct ConfigOptions {
  bool json = false;
  bool markdown = false;
  std::string file;
};

using Listed = std::vector<std::pair<std::string, config::Value>>;

void print_json(const Listed& settings) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& [key, value] : settings) {
    out.push_back({{"key", key}, {"value", value.text}, {"origin", value.origin}});
  }
  fmt::print("{}\n", out.dump(2));
}

void print_table(const Listed& settings) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : settings) {
    rows.push_back({key, value.text.empty() ? "-" : value.text, value.origin});
  }
  fmt::print("{}", aligned(rows));
}

void show(const ConfigOptions& options) {
  if (options.markdown) {  // describes the table, whatever is set here
    fmt::print("{}", config::settings_markdown());
    return;
  }
  const auto settings = settings_here();
  const auto listed =
      options.file.empty() ? settings.in_force() : settings.file_in_force(options.file);
  if (options.json) {
    print_json(listed);
  } else {
    print_table(listed);
  }
}

}  // namespace

void add_config(CLI::App& app) {
  auto options = std::make_shared<ConfigOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "config", "Print the settings that hold here and now: key, value (- if unset), origin");
  auto* json = command->add_flag("--json", options->json, "Print them as JSON");
  auto* file = command->add_option("--file", options->file,
                                   "Only the settings of the file that a program opens as NAME");
  file->type_name("NAME");
  command->add_flag("--markdown", options->markdown, "Print the reference, docs/settings.md")
      ->excludes(json)
      ->excludes(file);
  command->callback([options] { show(*options); });
}

}  // namespace iocomp::command
