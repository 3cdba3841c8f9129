// SPDX-License-Identifier: BSD-3-Clause
#include "config/file_settings.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "base/order.h"
#include "config/settings.h"

namespace iocomp::config {
namespace {

constexpr int most_deflate_level = 9;

// "key=value;key=value"
std::vector<std::pair<std::string, std::string>> parse_pairs(std::string_view name,
                                                             std::string_view setting,
                                                             const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error{ErrorCode::invalid_setting, "files." + std::string{name} + '.' +
                                                  std::string{setting} + ": \"" + pair +
                                                  "\" is not of the form key=value"};
    }
    pairs.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    begin = end + 1;
  }
  return pairs;
}

void read_layout(FileSettings& file, const Settings& settings, std::string_view name) {
  const auto refuse = [name](const std::string& setting, const std::string& why) {
    return Error{ErrorCode::invalid_setting,
                 "files." + std::string{name} + '.' + setting + ": " + why};
  };
  file.grows_along_time = settings.file_text(name, "layout") == "time";
  if (file.grows_along_time && file.backend != "hdf5") {
    throw refuse("layout = \"time\"", "the back-end hdf5 has it, " + file.backend +
                                          " has not (files of netcdf and pnetcdf always grow "
                                          "along time)");
  }
  file.is_flat = settings.file_text(name, "layout") == "flat";
  if (file.is_flat && file.backend != "hdf5") {
    throw refuse("layout = \"flat\"", "the back-end hdf5 has it, " + file.backend +
                                          " has not (variables of netcdf and pnetcdf always lie at "
                                          "the root)");
  }
  if (file.grows_along_time && file.file_per_step) {
    throw refuse("layout = \"time\"", "a checkpoint, or file_per_step, has one step in each file");
  }
  file.chunk_bytes = settings.file_bytes(name, "chunk");
  file.shuffle = settings.file_boolean(name, "shuffle");
  file.compression_threads = checked_cast<int>(settings.integer("writing.threads"));
  if (const auto method = settings.file_text(name, "compression"); method != "none") {
    if (!file.grows_along_time && file.backend != "netcdf") {
      throw refuse("compression = \"" + std::string{method} + '"',
                   "only with the back-end netcdf, and with layout = \"time\" of hdf5");
    }
    file.compression = method;
    file.compression_level = checked_cast<int>(settings.file_integer(name, "compression_level"));
    if (method == "deflate" && file.compression_level > most_deflate_level) {
      throw refuse("compression_level = " + std::to_string(file.compression_level),
                   "deflate has 1 to 9; zstd has 1 to 19");
    }
  }
}

}  // namespace

FileSettings file_settings(const Settings& settings, std::string_view name, std::string_view kind) {
  FileSettings file;
  file.backend = settings.file_text(name, "backend");
  file.path = settings.file_text(name, "path");
  const auto mode = settings.file_text(name, "mode");
  file.synchronous = (mode == "inherit" ? settings.text("mode") : mode) == "sync";
  const auto chosen = settings.file_text(name, "kind");
  file.checkpoint = (chosen == "program" ? kind : chosen) == "checkpoint";
  const auto when_full = settings.file_text(name, "when_full");
  file.when_full = when_full == "error"   ? WhenFull::fail
                   : when_full == "spill" ? WhenFull::spill
                                          : WhenFull::wait;
  file.bandwidth = settings.file_rate(name, "bandwidth");
  file.may_overlap = settings.file_text(name, "overlap") == "any";
  file.guarded = settings.file_boolean(name, "guard");
  file.steps_in_flight = checked_cast<int>(settings.file_integer(name, "steps_in_flight"));
  const auto existing = settings.file_text(name, "existing");
  file.existing = existing == "replace"    ? Existing::replace
                  : existing == "continue" ? Existing::go_on
                                           : Existing::refuse;
  file.file_per_step = file.checkpoint || settings.file_boolean(name, "file_per_step");
  file.keep = checked_cast<int>(settings.file_integer(name, "keep"));
  const auto checksum = settings.file_text(name, "checksum");
  file.sums_blocks =
      !file.may_overlap && (checksum == "auto" ? file.checkpoint : checksum == "xxh3");
  file.xdmf = settings.file_text(name, "describe") == "xdmf";
  read_layout(file, settings, name);
  file.alignment_bytes = settings.file_bytes(name, "alignment");
  if (file.alignment_bytes < 1) {
    throw Error{ErrorCode::invalid_setting,
                "files." + std::string{name} + ".alignment must be at least 1 byte"};
  }
  file.aggregators_per_node = checked_cast<int>(settings.file_integer(name, "aggregators"));
  const bool packed = settings.file_text(name, "aggregator_order") == "packed";
  file.aggregator_order = packed ? Order::packed : Order::spread;
  file.hints = parse_pairs(name, "hints", settings.file_text(name, "hints"));
  file.engine = settings.file_text(name, "engine");
  file.engine_parameters =
      parse_pairs(name, "engine_parameters", settings.file_text(name, "engine_parameters"));
  return file;
}

}  // namespace iocomp::config
