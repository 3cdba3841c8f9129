// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace iocomp::formats::bp {

/// The reach of the index of a dataset of BP4 ("md.idx"): 64 bytes, then a record of 64 bytes for
/// each step. Source: engine/bp4/BP4Writer.cpp of ADIOS2 2.12.
struct Index {
  std::int64_t steps = 0;
  std::int64_t bytes = 0;           ///< with which it ends behind the last of these steps
  std::int64_t metadata_bytes = 0;  ///< of "md.0" that these steps have
};
/// @param bytes  of the file; a record that is not whole is none.
/// @param most_steps  more are not looked at.
/// @throws Error{unsupported} for an index of another version or byte order.
[[nodiscard]] Index look_at_index(std::span<const std::byte> bytes, std::int64_t most_steps);

}  // namespace iocomp::formats::bp
