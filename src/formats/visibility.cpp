// SPDX-License-Identifier: BSD-3-Clause
#include "formats/visibility.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <iterator>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/format.h"

namespace iocomp::formats {
namespace {

// Reads the bytes of the file that a switch would replace.
Switch switch_in(const Path& path, const Switch& next) {
  const Descriptor file = path.folder().open(path.name(), O_RDONLY);
  Switch now{next.offset, std::vector<std::byte>(next.bytes.size())};
  const auto got = ::pread(file.raw(), now.bytes.data(), now.bytes.size(), now.offset);
  if (got != std::ssize(now.bytes)) {
    throw failure("read", path.text(), got < 0 ? errno : EIO);
  }
  return now;
}

}  // namespace

void Visibility::show(const Switch& next, const Write& write, const std::function<void()>& rest) {
  if (next.bytes.empty()) {
    rest();
    return;
  }
  if (seen_.bytes.empty() && earlier_) {
    seen_ = switch_in(*earlier_, next);
  }
  try {
    write(next);
    rest();
  } catch (...) {
    is_stuck_ = !seen_.bytes.empty() && !outcome_of([&] { write(seen_); }).ok();
    throw;
  }
  seen_ = next;
}

}  // namespace iocomp::formats
