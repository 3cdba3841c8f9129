// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace iocomp::disk {

/// The faults of the system calls of this program. One thread sets them, while
/// no other calls.
struct Faults {
  int interrupts = 0;               ///< so many next calls fail with EINTR
  std::size_t most_bytes = 0;       ///< a pwrite writes no more than this; 0: no limit
  std::size_t most_told_bytes = 0;  ///< a pwrite says that it wrote no more than this; 0: no limit
  int direct_error = 0;             ///< pwrite to an O_DIRECT descriptor fails with this errno
  int buffered_error = 0;           ///< and to any other with this
  int read_error = 0;               ///< pread fails with this errno
  int close_error = 0;              ///< close says this after it has closed
  int block_bytes = 0;              ///< of every file, as fstat tells; 0: as it is
  bool writes_nothing = false;      ///< pwrite takes no byte, and says no error
  int sync_error = 0;               ///< the next fdatasync fails with this, once
  int direct_calls = 0;             ///< counts pwrite to O_DIRECT descriptors
  int flushes = 0;                  ///< counts sync_file_range
  std::size_t largest_pwrite_bytes = 0;  ///< the most that one pwrite asked for
};

extern Faults faults;

}  // namespace iocomp::disk
