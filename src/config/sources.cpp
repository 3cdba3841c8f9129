// SPDX-License-Identifier: BSD-3-Clause
#include "config/sources.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/small_files.h"

namespace iocomp::config {
namespace {

/// The variable that names the settings file, or null. Read in iocomp_init, by the application's
/// own thread.
const char* chosen_file() noexcept {
  return std::getenv("IOCOMP_CONFIG");  // NOLINT(concurrency-mt-unsafe)
}

constexpr std::int64_t longest_file_bytes = std::int64_t{1} << 24;

/// The settings file that this process reads; empty: none.
std::string settings_file() {
  if (const char* chosen = chosen_file()) {
    return chosen;
  }
  const std::string usual = "iocomp.toml";
  return find_file(usual) ? usual : std::string{};
}

std::string contents(const std::string& path) {
  std::optional<std::string> text;
  const Outcome read = outcome_of([&] { text = read_file(path, longest_file_bytes); });
  if (!text) {
    throw Error{ErrorCode::invalid_setting,
                fmt::format("cannot read the settings file {} ({}): {}", path,
                            chosen_file() != nullptr ? "environment IOCOMP_CONFIG"
                                                     : "in the working directory",
                            read.ok() ? std::generic_category().message(ENOENT) : read.story)};
  }
  return *std::move(text);
}

}  // namespace

std::string settings_text() {
  const std::string path = settings_file();
  return path.empty() ? path : contents(path);
}

Found read_sources(std::string_view program) {
  Found all{.entries = read_toml(program, program_source, false), .warnings = {}};
  const auto append = [&all](std::vector<Entry> stronger) {
    all.entries.insert(all.entries.end(), std::make_move_iterator(stronger.begin()),
                       std::make_move_iterator(stronger.end()));
  };
  if (const auto path = settings_file(); !path.empty()) {
    append(read_toml(contents(path), path, true));
  }
  auto environment = read_environment();
  append(std::move(environment.entries));
  all.warnings = std::move(environment.warnings);
  return all;
}

}  // namespace iocomp::config
