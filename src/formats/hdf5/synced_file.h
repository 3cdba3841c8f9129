// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/failure.h"

namespace iocomp::formats::h5 {

/// A file that is open, and made durable. The system tells a failure of that once, and what is lost
/// stays lost. So after one failure each further call fails.
class SyncedFile {
 public:
  SyncedFile(std::string path, Descriptor file) : path_{std::move(path)}, file_{std::move(file)} {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const Descriptor& file() const noexcept { return file_; }
  /// @throws Error{storage_failure}.
  void sync() {
    if (error_ == 0 && ::fsync(file_.raw()) != 0) {
      error_ = errno;
    }
    if (error_ != 0) {
      throw failure("fsync", path_, error_);
    }
  }

 private:
  std::string path_;
  Descriptor file_;
  int error_ = 0;
};

}  // namespace iocomp::formats::h5
