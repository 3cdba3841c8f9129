#pragma once

#include <string>

namespace actor {

/// Calls of the C library that fail in this process, whoever makes them: pwrite, write, sync (fsync
/// and fdatasync), rename, fallocate. Only files under the working directory count.
struct Fault {
  std::string call;
  int error = 0;     ///< errno
  int after = 0;     ///< calls that still succeed
  int times = -1;    ///< calls that fail then; -1: all
  std::string path;  ///< part of the path that the file must have
};

/// From now on. Call it before threads exist that write.
void add_fault(const Fault& fault);

void remove_faults();

/// "ENOSPC" and the like. @throws std::runtime_error.
[[nodiscard]] int errno_of(const std::string& name);

}  // namespace actor
