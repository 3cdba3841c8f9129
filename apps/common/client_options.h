// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace iocomp::apps {

/// The options that all clients that compute and put have in common.
struct ClientOptions {
  bool plain = false;
  bool alloc = false;  ///< what is put lies in memory of iocomp_alloc
  bool verify = false;
  std::size_t warm_bytes = 0;  ///< of free memory, touched before the start
  std::string backend{};
  std::string file{};
  std::vector<std::string> settings{};  ///< further lines of TOML
  std::string json{};

  /// They as settings of iocomp. @param name  of the output in the settings.
  [[nodiscard]] std::string toml(const std::string& name) const;
};

/// The options of clients that write checkpoints, counted in iterations or repetitions.
struct CheckpointOptions {
  int checkpoint_every = 0;  ///< 0: no checkpoints
  bool restart = false;
  std::int64_t stop_after = 0;  ///< in all, over all jobs; 0: run to the end

  /// They as settings of iocomp. @param name  of the output in the settings.
  [[nodiscard]] std::string toml(const std::string& name) const;
  /// @throws Mistake for a run without iocomp that asks for them.
  void refuse_contradictions(const ClientOptions& options) const;
};

/// Declare the options; `options` must live until they are parsed.
void declare(CLI::App& app, ClientOptions& options);
/// The same. @param unit  what is counted, in plural.
void declare(CLI::App& app, CheckpointOptions& options, const std::string& unit);

/// A text as TOML has it.
[[nodiscard]] std::string quoted(const std::string& text);

/// The name of a value in a map from names to values, as options of the command line have them.
template <typename Names, typename Value>
[[nodiscard]] const char* name_in(const Names& names, Value value) noexcept {
  for (const auto& [name, one] : names) {
    if (one == value) return name.c_str();
  }
  return "";
}

}  // namespace iocomp::apps
