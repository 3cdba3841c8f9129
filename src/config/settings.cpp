#include "config/settings.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/nearest.h"
#include "config/sources.h"
#include "config/table.h"

namespace iocomp::config {
namespace {

/// The variable that names the settings file, or null. Read in iocomp_init, by the application's
/// own thread.
const char* chosen_file() noexcept {
  return std::getenv("IOCOMP_CONFIG");  // NOLINT(concurrency-mt-unsafe)
}

/// The settings file that this process reads; empty: none.
std::filesystem::path settings_file() {
  if (const char* chosen = chosen_file()) {
    return chosen;
  }
  const std::filesystem::path usual{"iocomp.toml"};
  std::error_code ignored;
  return std::filesystem::exists(usual, ignored) ? usual : std::filesystem::path{};
}

std::string contents(const std::filesystem::path& path) {
  std::error_code ignored;
  errno = std::filesystem::is_directory(path, ignored) ? EISDIR : 0;
  std::ifstream file{};
  if (errno == 0) {
    file.open(path, std::ios::binary);
  }
  if (!file.is_open()) {
    throw Error{ErrorCode::invalid_setting,
                fmt::format("cannot read the settings file {} ({}): {}", path.string(),
                            chosen_file() != nullptr ? "environment IOCOMP_CONFIG"
                                                     : "in the working directory",
                            std::generic_category().message(errno))};
  }
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string file_key(std::string_view file, std::string_view key) {
  return fmt::format("files.{}.{}", file, key);
}

/// "fields" of "files.fields.backend"; empty for other keys.
std::string_view file_of(std::string_view key) {
  constexpr std::string_view files = "files.";
  if (!key.starts_with(files)) {
    return {};
  }
  return key.substr(files.size(), key.rfind('.') - files.size());
}

}  // namespace

Settings Settings::read(std::string_view program) {
  Settings settings;
  const auto take = [&settings](const std::vector<Entry>& entries) {
    for (const auto& [key, value] : entries) {
      settings.values_[key] = value;
    }
  };
  take(read_toml(program, "program", false));
  if (const auto path = settings_file(); !path.empty()) {
    take(read_toml(contents(path), path.string(), true));
  }
  take(read_environment());
  return settings;
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
  const auto marked = environment_mark + environment_name(file);
  for (const auto& name : {file_key(marked, key), file_key(file, key)}) {
    if (const auto found = values_.find(name); found != values_.end()) {
      return found->second;
    }
  }
  if (const auto found = values_.find(file_key("default", key)); found != values_.end()) {
    return found->second;
  }
  return {.text = std::string{row->default_value}, .origin = "default"};
}

std::vector<std::pair<std::string, Value>> Settings::file_in_force(std::string_view file) const {
  std::vector<std::pair<std::string, Value>> found;
  for (const auto& row : all_keys()) {
    if (is_file_key(row)) {
      const auto key = name_in_file(row);
      found.emplace_back(file_key(file, key), file_value(file, key));
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
    const auto name = file_of(key);
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
