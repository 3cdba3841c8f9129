// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace actor {

/// Calls of the C library that fail in this process, whoever makes them: pwrite, write, pread, sync
/// (fsync and fdatasync), rename, fallocate, open (to write), open_to_read, truncate, unlink.
/// Requests to io_uring count as the calls that they stand for. Only files under the working
/// directory count.
struct Fault {
  std::string call;
  int error = 0;           ///< errno, or of errno_of
  int after = 0;           ///< calls that still succeed
  int times = -1;          ///< calls that fail then; -1: all
  std::string path;        ///< part of the path that the file must have
  std::int64_t room = -1;  ///< of writes: so many bytes still succeed, and those beyond fail
  std::string to{};        ///< the target of LINK and SWAP
  std::string sign{};      ///< a file that is made when it strikes
};

/// The outcome of a call.
struct Verdict {
  int error = 0;            ///< errno, or 0
  std::size_t allowed = 0;  ///< of a write: bytes that it may write, not 0 without an error
};

/// From now on. Call it before threads exist that write.
void add_fault(const Fault& fault);

void remove_faults();

/// @param bytes  that a write would write; 0 for other calls.
[[nodiscard]] Verdict verdict_on(std::string_view call, const std::string& path, std::size_t bytes);
[[nodiscard]] Verdict verdict_on(std::string_view call, int descriptor, std::size_t bytes);

/// The file behind a descriptor, or nothing.
[[nodiscard]] std::string path_of(int descriptor);

/// "ENOSPC" and the like; SHORT (a write of half of it), SLOW, KILL and STOP (of this process).
/// For open: LINK and PIPE put such a thing under the name right before the call, unless something
/// has the name. SWAP puts a link there in place of whatever has it.
/// @throws std::runtime_error.
[[nodiscard]] int errno_of(const std::string& name);

/// The wall clock of this process, in seconds from what it is, from now on.
void move_clock(double seconds);
[[nodiscard]] double clock_offset_seconds();

}  // namespace actor
