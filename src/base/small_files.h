// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/open_folder.h"
#include "base/path.h"

namespace iocomp {

/// Write and fsync a file, then rename it to its final name and fsync the folder. Leaves no
/// temporary behind. @param temporary  lies in the same folder.
/// @throws Error{storage_failure}.
void write_durably(const Path& path, const Path& temporary, std::string_view text);
/// The same, of a text in parts.
void write_durably(const Path& path, const Path& temporary,
                   std::span<const std::string_view> parts);

/// Look at a path, links followed. Nothing if it is not there. @throws Error{storage_failure}.
[[nodiscard]] std::optional<struct stat> find_file(const std::string& path);
/// Make a folder, and those above it, unless they are there. @throws Error{storage_failure}.
void make_folders(const std::string& path);

/// The names in a folder, without "." and ".."; none where it is not there.
/// @throws Error{storage_failure}.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);

/// The text of a file, or nothing if it is not there, or its folder is not.
/// @throws Error{storage_failure} for one that cannot be read, or is longer than that.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path,
                                                   std::int64_t most_bytes = longest_text_bytes);
[[nodiscard]] std::optional<std::string> read_file(const Path& path,
                                                   std::int64_t most_bytes = longest_text_bytes);

/// Write a file for people or other programs, in place of one that is there. A link that belongs to
/// the user of this process is followed.
/// @throws Error{storage_failure} also if it is no file.
void write_file(const std::string& path, std::string_view text);

/// A file that is written and has not got its name yet. Its bytes are on their way to the disk, so
/// whatever is made durable meanwhile leaves little to do for its own fsync.
class NewFile {
 public:
  /// Create `temporary`; a file of that name is replaced. @throws Error{storage_failure}.
  NewFile(Path path, Path temporary, std::span<const std::string_view> parts);
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Without a name, it goes.
  ~NewFile() { remove(); }

  /// fsync it, rename it to `path` and fsync the folder. Once.
  /// @throws Error{storage_failure}.
  void appear();

 private:
  void remove() noexcept;

  Path path_;
  Path temporary_;
  Descriptor file_;  // open until it is about to get its name
};

}  // namespace iocomp
