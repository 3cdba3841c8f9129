// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/path.h"

namespace iocomp::formats {

/// The begin of each HDF5 file.
inline constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";
/// The offset of this begin, behind a user block, as MATLAB makes one; -1 if it is no HDF5 file.
[[nodiscard]] std::int64_t begin_of_hdf5(const Descriptor& file);

/// A file that a library has open for reading. HDF5 has a file open once, however often a process
/// opens it, and keeps what it has read of it. So a file that has grown and is opened again would
/// show its old contents. Here a file that has changed is closed wherever it is open, before it is
/// opened again. The others open it anew with their next call. It stays the file that was opened
/// first, even if another file gets its name meanwhile.
///
/// A job that commits steps to an HDF5 file writes the metadata of every other step anew, and turns
/// the superblock to them. A library that has the earlier ones open reads a mixture then. So each
/// look into the file counts only if the superblock is at its end what it was when the library
/// opened the file. All calls with the lock of the library held.
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

  /// Calls `body`, which calls the library, with the file open; again if a job has committed a step
  /// meanwhile. @throws Error{storage_failure} if steps come too quickly; as above; and what `body`
  /// throws.
  void look(const std::function<void()>& body);
  [[nodiscard]] const Descriptor& file() const noexcept { return file_; }
  /// The present length of the file. @throws Error{storage_failure}.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  void open();
  void close();
  void try_to_open();
  [[nodiscard]] std::string superblock() const;
  [[nodiscard]] bool is_same_file(const struct stat& status) const noexcept;
  [[nodiscard]] bool has_changed(const struct stat& status) const noexcept;

  std::string path_;
  Calls calls_;
  Descriptor file_;
  bool is_open_ = false;
  struct stat seen_{};       // when it was opened
  bool is_settled_ = false;  // its time of change tells whether it has changed since
  std::int64_t superblock_at_ = -1;
  std::string superblock_;  // when it was opened
};

}  // namespace iocomp::formats
