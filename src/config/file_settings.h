// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/order.h"
#include "base/storage.h"
#include "config/settings.h"

namespace iocomp::config {

/// The fate of a committed file whose name is opened for writing again.
enum class Existing : std::uint8_t { refuse, replace, go_on };

/// The answer to a put for whose block there is no memory.
enum class WhenFull : std::uint8_t { wait, fail, spill };

/// The storage of one variable in a file, and what is stored.
struct VariableSettings : Storage {
  int keep_bits = 0;  ///< of the mantissa; 0: all
  /// The setting was given for the variable by its name, not for all nor by a pattern.
  bool is_rounded_by_name = false;
  std::string type{};             ///< of floating-point numbers in the file; empty: the program's
  bool is_typed_by_name = false;  ///< likewise
};

/// The settings of one file, read once when it is opened: the same on compute ranks and servers.
struct FileSettings {
  std::string backend;
  std::string path;  ///< empty: "<name><extension>"
  bool synchronous = false;
  bool checkpoint = false;
  WhenFull when_full = WhenFull::wait;
  std::int64_t bandwidth = 0;  ///< bytes per second of all writers together; 0: no limit
  bool may_overlap = false;    ///< overlap = "any"
  int steps_in_flight = 8;
  bool guarded = true;  ///< `guard`
  Existing existing = Existing::refuse;
  bool file_per_step = false;  ///< always true for a checkpoint
  int keep = 0;
  std::vector<std::string> after;  ///< names of files whose steps come first
  std::string time_units;          ///< as CF has them; empty: nobody has said
  std::string calendar;            ///< likewise
  bool sums_blocks = false;        ///< checksum = "xxh3", or what auto comes to
  bool grows_along_time = false;   ///< layout = "time"
  bool is_flat = false;            ///< layout = "flat"
  VariableSettings usual;          ///< of variables of which nothing is said
  /// Returns the settings of a variable, given by name.
  std::function<VariableSettings(std::string_view)> of_variable;
  std::vector<VariableSettings> others;  ///< that variables of some names may have
  std::int64_t alignment_bytes = 4096;
  int aggregators_per_node = 0;  ///< 0: all
  Order aggregator_order = Order::spread;
  std::vector<std::pair<std::string, std::string>> hints;
  std::string engine = "BP5";

  /// True if some variable may be compressed.
  [[nodiscard]] bool compresses() const noexcept;
};

/// The names of files whose steps come before those of a file.
[[nodiscard]] std::vector<std::string> files_before(const Settings& settings,
                                                    std::string_view name);

/// @param kind  what the program says: "series" or "checkpoint"; the setting `kind` may override
/// it.
/// @throws Error{invalid_setting} for combinations that make no sense.
[[nodiscard]] FileSettings file_settings(const Settings& settings, std::string_view name,
                                         std::string_view kind);

}  // namespace iocomp::config
