#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace iocomp::formats::bp {

/// How far the index of a BP dataset ("md.idx") leads: 64 bytes, then records. BP4 has one of 64
/// bytes for each step; BP5 one for each step, and one for each set of writers before the first
/// step that these write. Source: engine/bp5/BP5Writer.cpp, engine/bp4/BP4Writer.cpp of
/// ADIOS2 2.12.
struct Index {
  std::int64_t steps = 0;
  std::int64_t bytes = 0;           ///< with which it ends behind the last of these steps
  std::int64_t metadata_bytes = 0;  ///< of "md.0" that these steps have
  std::int64_t subfiles = 0;        ///< BP5: how many files of data it tells of
};
/// @param bytes  of the file; a record that is not whole is none.
/// @param version  4 or 5.
/// @param most_steps  more are not looked at.
/// @throws Error{unsupported} for an index of another version or byte order.
[[nodiscard]] Index look_at_index(std::span<const std::byte> bytes, int version,
                                  std::int64_t most_steps);

/// Bytes of whole blocks with which a file of BP5 begins that describes types ("mmd.0").
[[nodiscard]] std::int64_t whole_blocks(std::span<const std::byte> bytes);

}  // namespace iocomp::formats::bp
