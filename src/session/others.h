// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iocomp::session {

/// The words for those whom a wait of iocomp_init waits for.
inline constexpr const char* others = "the other ranks in iocomp_init";

}  // namespace iocomp::session
