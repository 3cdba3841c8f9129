// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iocomp {

/// Parse "4096", "64 KiB", "1.5 GiB", "10 MB" (units B, KB, MB, GB, TB, KiB, MiB, GiB, TiB; case
/// does not matter); nothing when it is no size, negative or too large.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);

/// "512 B", "1.5 MiB", "12.4 GiB": one decimal where it is not zero.
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

}  // namespace iocomp
