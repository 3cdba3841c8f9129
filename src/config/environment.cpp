// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "config/check.h"
#include "config/settings.h"
#include "config/sources.h"
#include "config/table.h"

namespace iocomp::config {
namespace {

constexpr std::string_view environment_prefix = "IOCOMP_";
constexpr std::string_view environment_files = "FILES_";

/// Not settings: the file to read, the library that Python loads, where package managers say they
/// installed iocomp, and our own scripts.
bool is_foreign(std::string_view name) {
  constexpr std::array<std::string_view, 4> others{"CONFIG", "LIBRARY", "ROOT", "DIR"};
  return std::ranges::count(others, name) != 0 || name.starts_with("TEST_") ||
         name.starts_with("BENCH_");
}

struct Target {
  const Key* row = nullptr;
  std::string key;
};

/// FIELDS_VARIABLES_U of a key that may be set of variables: files.$FIELDS.variables.$U.
/// VARIABLES_U: that of all files. Nothing else.
std::string variable_target(const Key& row, std::string_view rest) {
  constexpr std::string_view between = "_VARIABLES_";
  const auto all = "_" + std::string{rest};
  const auto found = all.find(between);
  if (!row.of_variable || found == std::string::npos || found + between.size() == all.size()) {
    return {};
  }
  const auto file =
      found == 0 ? "default" : environment_mark + upper_case(all.substr(1, found - 1));
  return fmt::format("files.{}.variables.{}{}.{}", file, environment_mark,
                     upper_case(all.substr(found + between.size())), name_in_file(row));
}

/// FILES_BACKEND is the default of all files, FILES_FIELDS_BACKEND concerns one.
Target file_target(std::string_view rest) {
  for (const auto& row : all_keys()) {
    if (!is_file_key(row)) {
      continue;
    }
    const auto key = environment_name(name_in_file(row));
    if (rest == key || rest == "DEFAULT_" + key) {
      return {.row = &row, .key = "files.default." + std::string{name_in_file(row)}};
    }
    if (rest.size() > key.size() + 1 && rest.ends_with("_" + key)) {
      const auto file = rest.substr(0, rest.size() - key.size() - 1);
      if (auto of_variable = variable_target(row, file); !of_variable.empty()) {
        return {.row = &row, .key = std::move(of_variable)};
      }
      return {.row = &row,
              .key = fmt::format("files.{}{}.{}", environment_mark, upper_case(file),
                                 name_in_file(row))};
    }
  }
  return {};
}

Target target_of(std::string_view name) {
  for (const auto* keys : {&all_keys(), &test_keys()}) {
    for (const auto& row : *keys) {
      if (!is_file_key(row) && environment_name(row.name) == name) {
        return {.row = &row, .key = std::string{row.name}};
      }
    }
  }
  return name.starts_with(environment_files) ? file_target(name.substr(environment_files.size()))
                                             : Target{};
}

/// The key that was called so once, with any file and variable; else nothing.
std::string_view gone_key(std::string_view name) {
  for (const auto& gone : gone_keys()) {
    const bool is_of_file = gone.name.starts_with(file_prefix);
    const auto key =
        environment_name(is_of_file ? gone.name.substr(file_prefix.size()) : gone.name);
    if (is_of_file ? name.starts_with(environment_files) && name.ends_with("_" + key)
                   : name == key) {
      return gone.name;
    }
  }
  return {};
}

/// Every name that is known, and for files also FILES_<NAME>_<KEY> with all beginnings of `name` as
/// NAME.
std::vector<std::string> known_names(std::string_view name) {
  std::vector<std::string> known{"CONFIG"};
  for (const auto& row : all_keys()) {
    if (!is_file_key(row)) {
      known.push_back(environment_name(row.name));
      continue;
    }
    const auto key = environment_name(name_in_file(row));
    known.push_back(std::string{environment_files} + key);
    if (!name.starts_with(environment_files)) {
      continue;
    }
    for (auto end = name.find('_', environment_files.size()); end != std::string_view::npos;
         end = name.find('_', end + 1)) {
      known.push_back(std::string{name.substr(0, end + 1)} + key);
    }
  }
  return known;
}

/// Sorted, so that which of two bad variables is complained of does not depend on chance.
std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> found;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text{*line};
    const auto equals = text.find('=');
    if (text.starts_with(environment_prefix) && equals != std::string_view::npos) {
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return found;
}

}  // namespace

std::string environment_name(std::string_view name) {
  auto upper = upper_case(name);
  std::ranges::replace(upper, '.', '_');
  std::ranges::replace(upper, '-', '_');
  return upper;
}

std::string environment_name_of_variable(std::string_view name) {
  auto upper = upper_case(name);
  std::ranges::replace_if(
      upper,
      [](char letter) { return (letter < 'A' || letter > 'Z') && (letter < '0' || letter > '9'); },
      '_');
  return upper;
}

Found read_environment() {
  Found found;
  for (const auto& [variable, text] : variables()) {
    const auto name = std::string_view{variable}.substr(environment_prefix.size());
    const auto [row, key] = target_of(name);
    if (row == nullptr && is_foreign(name)) {
      continue;
    }
    if (row == nullptr) {
      refuse_gone(gone_key(name), variable, "environment");
      const auto known = nearest(name, known_names(name.substr(0, longest_compared)));
      found.warnings.push_back(
          unknown_text(variable, "environment", std::string{environment_prefix} + known) +
          "; it has no effect");
      continue;
    }
    const Value value{.text = text, .origin = "environment " + variable};
    auto shown = key;
    std::erase(shown, environment_mark);
    check_value(*row, shown, value);
    found.entries.push_back({key, value});
  }
  return found;
}

}  // namespace iocomp::config
