// SPDX-License-Identifier: BSD-3-Clause
#include "config/settings.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/open_folder.h"
#include "base/wire.h"
#include "config/parse.h"
#include "config/sources.h"
#include "config/table.h"

namespace iocomp::config {
namespace {

std::string file_key(std::string_view file, std::string_view key) {
  return fmt::format("files.{}.{}", file, key);
}

std::string marked(std::string_view name) { return environment_mark + std::string{name}; }

/// The key under which the environment stores the value of `key`, for a file or a variable.
std::string environment_key(std::string_view key) {
  const auto [file, variable, last] = parts_of(key);
  const auto of_file = marked(environment_name(file));
  return variable.empty() ? file_key(of_file, last)
                          : fmt::format("files.{}.variables.{}.{}", of_file,
                                        marked(environment_name_of_variable(variable)), last);
}

/// True if a name matches a pattern, in which each '*' stands for any text.
bool matches(std::string_view pattern, std::string_view name) {
  constexpr auto none = std::string_view::npos;
  std::size_t at = 0;       // in the pattern
  std::size_t star = none;  // the last one there
  std::size_t taken = 0;    // where what it stands for ends
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && pattern[at] == name[i]) {
      ++at;
      ++i;
    } else if (star != none) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == none;
}

constexpr auto by_name = std::numeric_limits<std::size_t>::max();

/// The rank of a pattern for a variable: the environment's name, its name, then the longest
/// pattern; 0: it does not match.
std::size_t fit(std::string_view pattern, std::string_view variable) {
  if (pattern == marked(environment_name_of_variable(variable))) {
    return by_name;
  }
  if (pattern == variable) {
    return by_name - 1;
  }
  return matches(pattern, variable) ? pattern.size() : 0;
}

/// Values were checked when they were read, so one that does not parse was asked for as the wrong
/// type.
template <typename Parse>
auto parsed(const std::string& text, std::string_view key, Parse parse, const char* type) {
  const auto value = parse(text);
  if (!value) {
    throw Error{ErrorCode::internal,
                fmt::format("the setting {} = \"{}\" was asked for as {}", key, text, type)};
  }
  return *value;
}

}  // namespace

Settings::Settings(const std::vector<Entry>& entries) {
  for (const auto& [key, value] : entries) {
    values_[key] = value;
  }
}

Settings Settings::read(std::string_view program) {
  auto found = read_sources(program);
  Settings settings{found.entries};
  settings.warnings_ = std::move(found.warnings);
  return settings;
}

void Settings::resolve_paths() {
  for (const Key& row : all_keys()) {
    const auto set = values_.find(row.name);
    if (row.type == ValueType::path && set != values_.end() && !set->second.text.empty()) {
      set->second.text = absolute_path(set->second.text);
    }
  }
}

Settings Settings::with_options(std::string_view file, std::string_view options) const {
  Settings all{*this};
  for (auto& [key, value] : read_options(options, file)) {
    const auto known = values_.find(key);
    const bool is_of_user = values_.contains(environment_key(key)) ||
                            (known != values_.end() && known->second.origin != program_source);
    if (!is_of_user) {
      all.values_[key] = std::move(value);
    }
  }
  return all;
}

Settings Settings::from_wire(std::string_view sent) {
  WireReader reader{std::as_bytes(std::span{sent.data(), sent.size()})};
  std::vector<Entry> entries;
  while (reader.bytes_left() > 0) {
    Entry entry;
    entry.key = reader.get_text();
    entry.value.text = reader.get_text();
    entry.value.origin = reader.get_text();
    entries.push_back(std::move(entry));
  }
  return Settings{entries};
}

std::string Settings::to_wire() const {
  WireWriter writer;
  for (const auto& [key, value] : values_) {
    writer.put_text(key);
    writer.put_text(value.text);
    writer.put_text(value.origin);
  }
  return {reinterpret_cast<const char*>(writer.bytes().data()), writer.bytes().size()};
}

Value Settings::value(std::string_view key) const {
  const auto* row = find_key(key);
  if (row == nullptr) {
    throw Error{ErrorCode::internal, fmt::format("\"{}\" is no key of the settings table", key)};
  }
  const auto found = values_.find(key);
  return found != values_.end()
             ? found->second
             : Value{.text = std::string{row->default_value}, .origin = "default"};
}

Value Settings::file_value(std::string_view file, std::string_view key) const {
  const auto* row = find_file_key(key);
  if (row == nullptr) {
    throw Error{ErrorCode::internal, fmt::format("\"{}\" is no key of a file", key)};
  }
  const auto find = [this](const std::string& name) {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  };
  const auto own = file_key(file, key);
  // To make a key of the environment costs more than everything else, and mostly it says nothing of
  // files.
  const std::string beginning = std::string{"files."} + environment_mark;
  const auto in_environment = values_.lower_bound(beginning);
  const bool has_any =
      in_environment != values_.end() && in_environment->first.starts_with(beginning);
  const Value* found = has_any ? find(environment_key(own)) : nullptr;
  found = found == nullptr ? find(own) : found;
  found = found == nullptr ? find(file_key("default", key)) : found;
  return found != nullptr ? *found
                          : Value{.text = std::string{row->default_value}, .origin = "default"};
}

VariableValue Settings::variable_value(std::string_view file, std::string_view variable,
                                       std::string_view key) const {
  for (const auto& scope :
       {marked(environment_name(file)), std::string{file}, std::string{"default"}}) {
    const auto prefix = fmt::format("files.{}.variables.", scope);
    const Value* found = nullptr;
    std::size_t best = 0;
    for (auto at = values_.lower_bound(prefix);
         at != values_.end() && at->first.starts_with(prefix); ++at) {
      const auto parts = parts_of(at->first);
      const auto how = parts.key == key ? fit(parts.variable, variable) : 0;
      if (how > best) {
        best = how;
        found = &at->second;
      }
    }
    if (found != nullptr) {
      return {*found, best >= by_name - 1 ? VariableValue::Of::name : VariableValue::Of::pattern};
    }
  }
  return {file_value(file, key), VariableValue::Of::file};
}

std::set<std::string> Settings::variable_names(std::string_view file) const {
  std::set<std::string> names;
  for (const auto& [key, value] : values_) {
    const auto parts = parts_of(key);
    const bool is_here = parts.file == file || parts.file == "default" ||
                         parts.file == marked(environment_name(file));
    if (is_here && !parts.variable.empty()) {
      names.emplace(parts.variable);
    }
  }
  return names;
}

std::string Settings::text(std::string_view key) const { return value(key).text; }

std::int64_t Settings::integer(std::string_view key) const {
  return parsed(text(key), key, parse_integer, "an integer");
}

double Settings::real(std::string_view key) const {
  return parsed(text(key), key, parse_real, "a number");
}

bool Settings::boolean(std::string_view key) const {
  return parsed(text(key), key, parse_boolean, "a boolean");
}

std::int64_t Settings::bytes(std::string_view key) const {
  return parsed(text(key), key, parse_bytes, "a size");
}

double Settings::seconds(std::string_view key) const {
  return parsed(text(key), key, parse_duration, "a duration");
}

std::string Settings::file_text(std::string_view file, std::string_view key) const {
  return file_value(file, key).text;
}

std::int64_t Settings::file_integer(std::string_view file, std::string_view key) const {
  return parsed(file_text(file, key), key, parse_integer, "an integer");
}

bool Settings::file_boolean(std::string_view file, std::string_view key) const {
  return parsed(file_text(file, key), key, parse_boolean, "a boolean");
}

std::int64_t Settings::file_bytes(std::string_view file, std::string_view key) const {
  return parsed(file_text(file, key), key, parse_bytes, "a size");
}

std::int64_t Settings::file_rate(std::string_view file, std::string_view key) const {
  return parsed(file_text(file, key), key, parse_rate, "a size per second");
}

std::vector<std::pair<std::string, Value>> Settings::file_in_force(std::string_view file) const {
  std::vector<std::pair<std::string, Value>> found;
  for (const auto& row : all_keys()) {
    if (is_file_key(row)) {
      const auto key = name_in_file(row);
      found.emplace_back(file_key(file, key), file_value(file, key));
    }
  }
  const auto in_environment = marked(environment_name(file));
  for (const auto& [key, value] : values_) {
    const auto parts = parts_of(key);
    if (!parts.variable.empty() && (parts.file == file || parts.file == in_environment)) {
      auto variable = std::string{parts.variable};
      std::erase(variable, environment_mark);
      found.emplace_back(fmt::format("files.{}.variables.{}.{}", file, variable, parts.key), value);
    }
  }
  return found;
}

std::vector<std::pair<std::string, Value>> Settings::in_force() const {
  std::vector<std::pair<std::string, Value>> found;
  for (const auto& row : all_keys()) {
    if (!is_file_key(row)) {
      found.emplace_back(row.name, value(row.name));
    }
  }
  std::set<std::string, std::less<>> files;
  std::set<std::string, std::less<>> in_environment;
  for (const auto& [key, value] : values_) {
    const auto name = parts_of(key).file;
    if (name.starts_with(environment_mark)) {
      in_environment.emplace(name.substr(1));
    } else if (!name.empty() && name != "default") {
      files.emplace(name);
    }
  }
  for (const auto& name : files) {
    in_environment.erase(environment_name(name));
  }
  for (const auto& name : in_environment) {
    files.insert(lower_case(name));
  }
  std::vector<std::string> listed{"default"};
  listed.insert(listed.end(), files.begin(), files.end());
  for (const auto& name : listed) {
    auto of_file = file_in_force(name);
    found.insert(found.end(), std::move_iterator{of_file.begin()},
                 std::move_iterator{of_file.end()});
  }
  return found;
}

}  // namespace iocomp::config
