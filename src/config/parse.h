// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/order.h"
#include "base/storage.h"

namespace iocomp::config {

/// Text to values; nothing when the text is not one of that type. Blanks around are ignored.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;
/// Finite numbers only.
[[nodiscard]] std::optional<double> parse_real(std::string_view text) noexcept;
/// Seconds: a number, or one with a unit (ms, s, min, h), as in "5 min". Not negative.
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);
/// Bytes per second: a size, with or without "/s", as in "500 MiB/s".
[[nodiscard]] std::optional<std::int64_t> parse_rate(std::string_view text);
/// true, false, on, off, yes, no, 1, 0 in any case.
[[nodiscard]] std::optional<bool> parse_boolean(std::string_view text);
/// Integers separated by commas or blanks; an empty text is an empty list.
[[nodiscard]] std::optional<std::vector<std::int64_t>> parse_list(std::string_view text);

/// The ranks that serve: none, so many on each node, one for so many compute ranks, or these.
struct Servers {
  bool are_none = false;
  std::int64_t per_node = 0;
  std::int64_t ratio = 0;
  std::vector<std::int64_t> ranks;

  /// True if there are to be some.
  [[nodiscard]] bool are_wanted() const noexcept {
    return per_node > 0 || ratio > 0 || !ranks.empty();
  }
};
/// "none" or "[]", "2 per node", "1 per 8", "3,7" or "[3]"; '-' for a blank ("2-per-node"). An
/// empty text says nothing.
[[nodiscard]] std::optional<Servers> parse_servers(std::string_view text);

/// The signals of "SIGUSR1,TERM": of those that end a process and can be caught.
[[nodiscard]] std::optional<std::vector<int>> parse_signals(std::string_view text);
/// The time at which a program is to stop.
struct Stop {
  std::optional<double> moment{};  ///< seconds since 1970; nothing: the end of the job
  double seconds_before = 0;       ///< so long before it
};
/// "end", "2026-11-23T18:00" (local time) or "1795456800", each also as in "end - 10 min". An empty
/// text is the end.
[[nodiscard]] std::optional<Stop> parse_stop(std::string_view text);

/// "none", "zstd", "zstd:4", "deflate:9 unshuffled"; "32013,3" is a filter of HDF5 and its values.
[[nodiscard]] std::optional<Compression> parse_compression(std::string_view text);
/// The bits that are kept: "10 bits", or as few as keep within an error ("0.001"). "none": 0, all.
[[nodiscard]] std::optional<int> parse_rounding(std::string_view text);
/// The ranks of a node that write for others.
struct Aggregators {
  int per_node = 0;  ///< 0: all
  Order order = Order::spread;
};
/// "2", "2 packed", "2 spread".
[[nodiscard]] std::optional<Aggregators> parse_aggregators(std::string_view text);

/// True if a text says what times count, as CF has it and readers know it: seconds, minutes, hours
/// or days, or a short form of these, "since" a date, perhaps with a time and a zone.
[[nodiscard]] bool is_time_unit(std::string_view text);

/// True if a text can be the name of a file: letters, digits, '-', '_' and '.'.
[[nodiscard]] bool is_file_name(std::string_view text) noexcept;
/// Names of files separated by commas or blanks; an empty text is an empty list.
[[nodiscard]] std::optional<std::vector<std::string>> parse_names(std::string_view text);

}  // namespace iocomp::config
