// SPDX-License-Identifier: BSD-3-Clause
#include "base/read_plainly.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/failure.h"

namespace iocomp {

void read_plainly(const Descriptor& file, std::int64_t offset, std::span<std::byte> bytes,
                  const std::string& path) {
  while (!bytes.empty()) {
    const auto got = ::pread(file.raw(), bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw failure("read", path, errno);
    }
    if (got == 0) {
      throw Error{ErrorCode::storage_failure, "cannot read " + path + ": it ends early"};
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

}  // namespace iocomp
