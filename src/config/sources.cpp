// SPDX-License-Identifier: BSD-3-Clause
#include "config/sources.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"

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

}  // namespace

Found read_sources(std::string_view program) {
  Found all{.entries = read_toml(program, program_source, false), .warnings = {}};
  const auto append = [&all](std::vector<Entry> stronger) {
    all.entries.insert(all.entries.end(), std::make_move_iterator(stronger.begin()),
                       std::make_move_iterator(stronger.end()));
  };
  if (const auto path = settings_file(); !path.empty()) {
    append(read_toml(contents(path), path.string(), true));
  }
  auto environment = read_environment();
  append(std::move(environment.entries));
  all.warnings = std::move(environment.warnings);
  return all;
}

}  // namespace iocomp::config
