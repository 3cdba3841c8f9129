// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/order.h"
#include "config/settings.h"

namespace iocomp::config {

/// What becomes of what is committed under the name of a file that is opened for writing.
enum class Existing : std::uint8_t { refuse, replace, go_on };

/// What becomes of blocks for which there is no memory.
enum class WhenFull : std::uint8_t { wait, fail, spill };

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
  bool sums_blocks = false;       ///< checksum = "xxh3", or what auto comes to
  bool xdmf = false;              ///< describe = "xdmf"
  bool grows_along_time = false;  ///< layout = "time"
  bool is_flat = false;           ///< layout = "flat"
  std::int64_t chunk_bytes = 0;
  std::string compression;  ///< "deflate" or "zstd"; empty: none
  int compression_level = 0;
  bool shuffle = true;
  int compression_threads = 1;
  std::int64_t alignment_bytes = 4096;
  int aggregators_per_node = 0;  ///< 0: all
  Order aggregator_order = Order::spread;
  std::vector<std::pair<std::string, std::string>> hints;
  std::string engine = "BP5";
  std::vector<std::pair<std::string, std::string>> engine_parameters;
};

/// @param kind  what the program says: "series" or "checkpoint"; the setting `kind` may override
/// it.
/// @throws Error{invalid_setting} for combinations that make no sense.
[[nodiscard]] FileSettings file_settings(const Settings& settings, std::string_view name,
                                         std::string_view kind);

}  // namespace iocomp::config
