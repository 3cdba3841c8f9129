// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/descriptor.h"
#include "base/path.h"

namespace iocomp::formats {

/// A file that a library has open for reading. HDF5 has a file open once, however often a process
/// opens it, and keeps what it has read of it. So a file that has grown and is opened again would
/// show its old contents. Here a file that has changed is closed wherever it is open, before it is
/// opened again. The others open it anew with their next call. It stays the file that was opened
/// first, even if another file gets its name meanwhile. All calls with the lock of the library
/// held.
class LibraryFile {
 public:
  struct Calls {
    std::function<void(const Descriptor& file)> open;  ///< once more: see name_of
    std::function<void()> close;                       ///< what `open` has opened; never throws
  };
  /// @throws Error{storage_failure} if it is no file, or cannot be opened; and the errors of
  /// `open`.
  LibraryFile(const Path& path, Calls calls);
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;
  ~LibraryFile();

  /// Opens the file if it was closed. Called before the library is. @throws as above.
  void reach();
  /// A descriptor of its own for the same file. @throws Error{storage_failure}.
  [[nodiscard]] Descriptor descriptor() const;
  /// The present length of the file. @throws Error{storage_failure}.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  void open();
  void try_to_open();
  [[nodiscard]] bool is_same_file(const struct stat& status) const noexcept;
  [[nodiscard]] bool has_changed(const struct stat& status) const noexcept;

  std::string path_;
  Calls calls_;
  Descriptor file_;
  bool is_open_ = false;
  struct stat seen_{};       // when it was opened
  bool is_settled_ = false;  // its time of change tells whether it has changed since
};

}  // namespace iocomp::formats
