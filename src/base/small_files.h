// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace iocomp {

/// The folder a file lies in ("." for a plain name), and its name there.
[[nodiscard]] std::string folder_of(const std::string& path);
[[nodiscard]] std::string name_in_folder(const std::string& path);

/// Write and fsync a file, then rename it to its final name and fsync the folder. Leaves no
/// temporary behind.
/// @throws Error{storage_failure}.
void write_durably(const std::string& path, const std::string& temporary, std::string_view text);
/// The same, of a text in parts.
/// @param may_appear  see check_may_appear.
void write_durably(const std::string& path, const std::string& temporary,
                   std::span<const std::string_view> parts,
                   const std::function<void()>& may_appear = {});

/// The names in a folder, without "." and ".."; none where it is not there.
/// @throws Error{storage_failure}.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);
/// The same of a folder that must be there.
[[nodiscard]] std::vector<std::string> names_in_existing(const std::string& folder);

/// What is read as a text has no more: files of others must not take all memory.
inline constexpr std::int64_t most_text_bytes = std::int64_t{1} << 30;

/// The text of a file, or nothing if there is none that can be read.
/// @throws Error{storage_failure} for one of more than `most_text_bytes`.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path);

/// For a file that is about to be opened: of a pipe that would wait for who writes.
/// @throws Error{storage_failure}.
void refuse_pipe(const std::string& path);

/// Bytes of a file.
/// @throws Error{storage_failure}.
[[nodiscard]] std::int64_t size_of_file(const std::string& path);

/// The folder in which a file lies, open. Who opens it before a file gets its name there can make
/// that name durable also when the folder has another name by then.
class OpenFolder {
 public:
  /// @throws Error{storage_failure}.
  explicit OpenFolder(const std::string& path);
  /// Make the names in it durable.
  /// @throws Error{storage_failure}.
  void sync() const;
  /// Whether something has this name in it. A folder that is gone is not one without the name.
  /// @throws Error{storage_failure}.
  [[nodiscard]] bool has(const std::string& name) const {
    return find(name, Links::as_they_are).has_value();
  }
  enum class Links { as_they_are, followed };
  /// What has this name in it, or nothing.
  /// @throws Error{storage_failure}.
  [[nodiscard]] std::optional<struct stat> find(const std::string& name, Links links) const;
  /// The text of a file in it, or nothing where it has none of that name.
  /// @throws Error{storage_failure}.
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;

 private:
  std::string folder_;
  Descriptor opened_;
};

/// Call it, if it is there: right before something gets a name, it throws where that shall not be.
void check_may_appear(const std::function<void()>& may_appear);

/// A file that is written and has not got its name yet. Its bytes are on their way to the disk, so
/// whatever is made durable meanwhile leaves little to do for its own fsync.
class NewFile {
 public:
  /// Create `temporary`, in place of what is there. @throws Error{storage_failure}.
  NewFile(std::string path, std::string temporary, std::span<const std::string_view> parts);
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Without a name, it goes.
  ~NewFile() { remove(); }

  /// fsync it, rename it to `path` and fsync the folder. Once.
  /// @param may_appear  see check_may_appear.
  /// @throws Error{storage_failure}.
  void appear(const std::function<void()>& may_appear = {});

 private:
  void remove() noexcept;

  std::string path_;
  std::string temporary_;
  OpenFolder folder_;
  Descriptor file_;  // open until it is about to get its name
};

/// The same of the folder in which a file lies.
[[nodiscard]] bool is_in_folder(const std::string& path);
[[nodiscard]] std::optional<std::string> read_in_folder(const std::string& path);

/// Make the names in the folder of `path` durable.
/// @throws Error{storage_failure}.
void sync_folder_of(const std::string& path);

}  // namespace iocomp
