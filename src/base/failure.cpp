// SPDX-License-Identifier: BSD-3-Clause
#include "base/failure.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "base/byte_size.h"
#include "base/error.h"

namespace iocomp {
namespace {

// Less room than this and a write of any size may have failed for want of it: file systems keep
// some blocks back.
constexpr std::uint64_t nearly_full_bytes = std::uint64_t{1} << 20;

}  // namespace

Error failure(const std::string& action, const std::string& path, int errno_value) {
  return Error{ErrorCode::storage_failure, "cannot " + action + ' ' + path + ": " +
                                               std::generic_category().message(errno_value)};
}

std::string cause_of_short_write(const std::string& path) {
  struct statvfs room{};
  if (::statvfs(path.c_str(), &room) != 0) {
    return std::generic_category().message(errno);
  }
  const std::uint64_t left = std::uint64_t{room.f_bavail} * room.f_frsize;
  const std::string amount =
      format_bytes(static_cast<std::int64_t>(left)) + " left on its file system";
  return left < nearly_full_bytes ? std::generic_category().message(ENOSPC) + " (" + amount + ')'
                                  : "no cause was given (" + amount + ')';
}

}  // namespace iocomp
