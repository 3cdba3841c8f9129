// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <vector>

namespace iocomp {

/// The system calls of this program that change what is on a disk, or read it. A program that is
/// linked with this puts itself between the C library and what it tests. Used by one thread.
struct Calls {
  int until_failure = -1;        ///< so many more succeed, then one fails; negative: all succeed
  bool goes_on_failing = false;  ///< then all that come after it fail, too
  bool counts_reads = false;     ///< else they are left alone
  bool has_failed = false;
  /// "sync FILE", "rename FROM TO", "unlink FILE", "write FILE", "cut FILE", "read FILE"; one where
  /// the same come in a row.
  std::vector<std::string> made{};
  std::set<std::string> undurable{};  ///< names that have changed since their folder was synced
};

extern Calls calls;

}  // namespace iocomp
