// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iocomp::session {

/// Whom the waits of iocomp_init name.
inline constexpr const char* others = "the other ranks in iocomp_init";

}  // namespace iocomp::session
