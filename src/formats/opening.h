// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace iocomp::formats {

/// The way in which a process comes to a physical file that it writes.
enum class Opening : std::uint8_t {
  shares,        ///< it makes the file, unless another process of the job has
  finds,         ///< another one has made it
  finds_earlier  ///< it has got its name already: an earlier job, or this one, has published it
};

}  // namespace iocomp::formats
