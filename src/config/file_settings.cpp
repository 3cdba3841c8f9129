// SPDX-License-Identifier: BSD-3-Clause
#include "config/file_settings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "config/parse.h"
#include "config/settings.h"
#include "config/sources.h"

namespace iocomp::config {
namespace {

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

/// The settings of one variable: where they are, and who is complained of.
class OfVariable {
 public:
  /// @param variable  its name, or a pattern; empty: the settings of the file itself.
  OfVariable(const Settings& settings, std::string_view file, std::string_view variable)
      : settings_{settings}, file_{file}, variable_{variable} {}

  [[nodiscard]] VariableValue found(std::string_view key) const {
    return variable_.empty() ? VariableValue{.value = settings_.file_value(file_, key)}
                             : settings_.variable_value(file_, variable_, key);
  }
  [[nodiscard]] Value value(std::string_view key) const { return found(key).value; }
  template <typename Parse>
  [[nodiscard]] auto read(std::string_view key, Parse parse) const {
    const auto parsed = parse(value(key).text);
    if (!parsed) {
      throw refusal(key, "this is no such value");  // values were checked when they were read
    }
    return *parsed;
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs(
      std::string_view key, const std::string& text) const {
    return parse_pairs(file_, key, text);
  }
  [[nodiscard]] Error refusal(std::string_view key, std::string_view why) const {
    const auto found = value(key);
    auto name = "files." + std::string{file_};
    if (!variable_.empty()) {
      name += ".variables." + std::string{variable_};
    }
    std::erase(name, environment_mark);
    return Error{ErrorCode::invalid_setting, name + '.' + std::string{key} + " = \"" + found.text +
                                                 "\" (" + found.origin + "): " + std::string{why}};
  }

 private:
  const Settings& settings_;
  std::string_view file_;
  std::string_view variable_;
};

void read_rounding(VariableSettings& found, const OfVariable& from) {
  found.keep_bits = from.read("round", parse_rounding);
  found.is_rounded_by_name = from.found("round").said_of == VariableValue::Of::name;
}

void read_type(VariableSettings& found, const OfVariable& from, const FileSettings& file) {
  const auto type = from.value("type").text;
  if (type == "program" || file.checkpoint) {
    return;
  }
  found.type = type;
  found.is_typed_by_name = from.found("type").said_of == VariableValue::Of::name;
}

/// Check that a file can be compressed: netcdf and zarr can, and hdf5 along time.
void check_method(const OfVariable& from, Compression::Method method, const FileSettings& file) {
  if (method == Compression::Method::filter && file.backend == "zarr") {
    throw from.refusal("compression",
                       "zarr has \"deflate\" and \"zstd\"; hdf5 and netcdf have filters");
  }
  if (!file.grows_along_time && file.backend != "netcdf" && file.backend != "zarr") {
    throw from.refusal("compression",
                       "only with the back-end netcdf or zarr, and with layout = \"time\" of hdf5; "
                       "zarr compresses checkpoints too");
  }
}

VariableSettings read_variable(const OfVariable& from, const FileSettings& file) {
  VariableSettings found;
  found.chunk_bytes = from.read("chunk", parse_bytes);
  found.compression = from.read("compression", parse_compression);
  read_rounding(found, from);
  read_type(found, from, file);
  const auto chosen = from.value("operator").text;
  const auto blank = std::min(chosen.find(' '), chosen.size());
  found.operator_name = chosen.substr(0, blank);
  if (!found.operator_name.empty() && file.backend != "adios2") {
    throw from.refusal("operator", "the back-end adios2 has operators, " + file.backend +
                                       " has not (hdf5, netcdf and zarr have compression)");
  }
  found.operator_parameters =
      from.pairs("operator", chosen.substr(std::min(blank + 1, chosen.size())));
  if (found.compression.is_on()) {
    check_method(from, found.compression.method, file);
  }
  return found;
}

void read_variables(FileSettings& file, const Settings& settings, std::string_view name) {
  file.usual = read_variable({settings, name, {}}, file);
  const auto names = settings.variable_names(name);
  for (const auto& variable : names) {
    file.others.push_back(read_variable({settings, name, variable}, file));
  }
  if (names.empty()) {
    file.of_variable = [usual = file.usual](std::string_view /*variable*/) { return usual; };
    return;
  }
  file.of_variable = [all = std::make_shared<const Settings>(settings), name = std::string{name},
                      of_file = file](std::string_view variable) {
    return read_variable({*all, name, variable}, of_file);
  };
}

void read_time(FileSettings& file, const Settings& settings, std::string_view name) {
  constexpr std::array<std::string_view, 6> calendars{
      "standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"};
  const auto text = settings.file_text(name, "time_units");
  const auto comma = std::min(text.find(", "), text.size());
  file.time_units = text.substr(0, comma);
  file.calendar = comma == text.size() ? "" : text.substr(comma + 2);
  const bool has_calendar =
      comma == text.size() || std::ranges::count(calendars, file.calendar) == 1;
  if (!text.empty() && (!is_time_unit(file.time_units) || !has_calendar)) {
    throw Error{
        ErrorCode::invalid_setting,
        "files." + std::string{name} + ".time_units = \"" + text +
            "\": it must be seconds, minutes, hours or days (s, min, h, d) since a date, "
            "which may have a time, as in \"days since 1850-01-01 12:00\", and behind a "
            "comma the calendar: standard, proleptic_gregorian, julian, noleap, all_leap or "
            "360_day"};
  }
}

void read_layout(FileSettings& file, const Settings& settings, std::string_view name) {
  const auto refuse = [name](const std::string& setting, const std::string& why) {
    return Error{ErrorCode::invalid_setting,
                 "files." + std::string{name} + '.' + setting + ": " + why};
  };
  file.grows_along_time = settings.file_text(name, "layout") == "time";
  if (file.grows_along_time && file.backend != "hdf5") {
    throw refuse("layout = \"time\"", "the back-end hdf5 has it, " + file.backend +
                                          " has not (files of netcdf, pnetcdf and zarr always grow "
                                          "along time)");
  }
  file.is_flat = settings.file_text(name, "layout") == "flat";
  if (file.is_flat && file.backend != "hdf5") {
    throw refuse("layout = \"flat\"",
                 "the back-end hdf5 has it, " + file.backend +
                     " has not (variables of netcdf, pnetcdf and zarr always lie at "
                     "the root)");
  }
  if (file.grows_along_time && file.file_per_step) {
    throw refuse("layout = \"time\"",
                 "a checkpoint, or kind = \"file_per_step\", has one step in each file");
  }
}

}  // namespace

bool FileSettings::compresses() const noexcept {
  return usual.compression.is_on() || std::ranges::any_of(others, [](const auto& variable) {
           return variable.compression.is_on();
         });
}

std::vector<std::string> files_before(const Settings& settings, std::string_view name) {
  return *parse_names(settings.file_text(name, "after"));  // checked when it was read
}

FileSettings file_settings(const Settings& settings, std::string_view name, std::string_view kind) {
  FileSettings file;
  file.backend = settings.file_text(name, "backend");
  file.path = settings.file_text(name, "path");
  const auto mode = settings.file_text(name, "mode");
  file.synchronous = (mode == "inherit" ? settings.text("mode") : mode) == "sync";
  const auto chosen = settings.file_text(name, "kind");
  const bool asks_program = chosen == "program" || chosen == "file_per_step";
  file.checkpoint = (asks_program ? kind : chosen) == "checkpoint";
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
  file.file_per_step = file.checkpoint || chosen == "file_per_step";
  file.keep = file.checkpoint ? checked_cast<int>(settings.file_integer(name, "keep")) : 0;
  file.after = files_before(settings, name);
  read_time(file, settings, name);
  const auto checksum = settings.file_text(name, "checksum");
  file.sums_blocks =
      !file.may_overlap && (checksum == "auto" ? file.checkpoint : checksum == "xxh3");
  read_layout(file, settings, name);
  read_variables(file, settings, name);
  file.alignment_bytes = settings.file_bytes(name, "alignment");
  if (file.alignment_bytes < 1) {
    throw Error{ErrorCode::invalid_setting,
                "files." + std::string{name} + ".alignment must be at least 1 byte"};
  }
  // Checked when it was read.
  const auto aggregators = *parse_aggregators(settings.file_text(name, "aggregators"));
  file.aggregators_per_node = aggregators.per_node;
  file.aggregator_order = aggregators.order;
  file.hints = parse_pairs(name, "hints", settings.file_text(name, "hints"));
  file.engine = settings.file_text(name, "engine");
  return file;
}

}  // namespace iocomp::config
