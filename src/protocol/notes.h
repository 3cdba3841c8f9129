// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>

namespace iocomp::protocol {

/// A note of a server for the compute ranks, in case it ends: a note outlives its writer
/// (transport::Transport::write_note).
enum class Note : std::uint64_t {
  publishing = 1,     ///< a step; before its file gets its final name
  dropped = 2,        ///< a step
  closed = 3,         ///< the file; before any rank is told
  failed_closed = 4,  ///< likewise, and it failed
  opened = 5,         ///< the file; before any rank is told
  sync_failed = 6,    ///< the file, of any server; the next fsync says yes, and means nothing
  refused = 7,        ///< the file, with the code in place of a step; before any rank is told
};

/// The word that stands for a note; never 0.
[[nodiscard]] constexpr std::uint64_t word(std::uint64_t file, Note note,
                                           std::int64_t step = 0) noexcept {
  constexpr std::uint64_t prime = 0x100000001b3ULL;
  std::uint64_t mixed = file;
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(note), static_cast<std::uint64_t>(step)}) {
    mixed = (mixed ^ (value + 0x9e3779b97f4a7c15ULL)) * prime;
    mixed ^= mixed >> 29U;
  }
  return mixed | 1U;
}

}  // namespace iocomp::protocol
