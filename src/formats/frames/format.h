// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "formats/format.h"

namespace iocomp::formats::frames {

/// A checkpoint of the back-end posix with compression. Its manifest calls it "frames".
/// @throws Error{invalid_setting} for a method that there is not.
[[nodiscard]] const Format& format(const FormatOptions& options);

}  // namespace iocomp::formats::frames
