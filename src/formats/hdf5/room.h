#pragma once

#include <cstdint>

#include "base/descriptor.h"

namespace iocomp::formats::h5 {

/// Have the file system set aside the first `bytes` of a file, so that writing them cannot fail for
/// want of room. Where it cannot set aside, compare with the room that it says is left. The size of
/// the file stays as it is.
/// @return 0 or errno.
[[nodiscard]] int reserve(const Descriptor& file, std::int64_t bytes) noexcept;

/// Give back what was set aside beyond the end of the file. Never throws.
void give_back_the_rest(const Descriptor& file) noexcept;

}  // namespace iocomp::formats::h5
