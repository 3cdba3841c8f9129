// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace iocomp::session {

/// A number that differs between releases and between versions of the wire protocol.
[[nodiscard]] std::int64_t build_number() noexcept;
[[nodiscard]] std::string version_text();
[[nodiscard]] std::string release_text();  ///< "0.2"

}  // namespace iocomp::session
