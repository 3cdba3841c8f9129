// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>
#include <sys/statfs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"

namespace iocomp {

/// A folder as one process tells it to another, which opens it by its path and compares.
struct FolderAddress {
  std::string path{};        ///< absolute
  std::uint64_t device = 0;  ///< this number holds in one system
  std::uint64_t inode = 0;   ///< 0: nobody has looked
  std::uint64_t system = 0;  ///< the running one of whoever has looked

  friend bool operator==(const FolderAddress&, const FolderAddress&) = default;
};
/// True if both have been looked at, and nothing says that they are two. Systems give devices
/// numbers of their own.
[[nodiscard]] bool have_the_same_numbers(const FolderAddress& one, const FolderAddress& other);
/// @throws Error{storage_failure} if the path is not absolute and the working directory is gone.
[[nodiscard]] std::string absolute_path(const std::string& path);
/// The address of a folder that is not opened, as this process sees it. Its path stays as it is if
/// the working directory is gone. @param path  empty: the working directory.
[[nodiscard]] FolderAddress address_of(const std::string& path);

/// A file that is read as a whole has at most so many bytes.
inline constexpr std::int64_t longest_text_bytes = std::int64_t{1} << 30;

/// A folder that is held open, and whatever concerns names in it. It stays the same, whatever
/// becomes of its path or of the working directory of the process. Others may write into it too. So
/// nothing is created through a link or in place of something, and only files are opened: anything
/// else may let the caller wait for ever. Functions throw Error{storage_failure} with the path,
/// unless they return an errno.
class OpenFolder {
 public:
  enum class Links {
    as_they_are,  ///< a link stands for itself, and is no file
    of_owner,     ///< for the file that it leads to, if it belongs to the user of this process
    followed,     ///< for whatever it leads to
  };
  /// @param path  as the user has said it; messages repeat it. Empty: the working directory.
  explicit OpenFolder(std::string path);
  /// @param path  another one that leads there now. @param said  is for messages.
  OpenFolder(const std::string& path, std::string said);
  /// Open it, or nothing if it is not there, or is no folder.
  [[nodiscard]] static std::optional<OpenFolder> if_there(const std::string& path);

  [[nodiscard]] const FolderAddress& address() const noexcept { return address_; }
  /// A name in it, for messages.
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] const Descriptor& descriptor() const noexcept { return opened_; }

  /// Others may take over the files in it. From the moment that `is_taken_over` says so, nothing is
  /// created, opened for writing, renamed or removed through this folder or through those opened
  /// from it: such calls fail with ECANCELED.
  /// @param is_taken_over  is called from any thread, and throws nothing; empty: nobody may.
  void fence(std::function<bool()> is_taken_over) { is_taken_over_ = std::move(is_taken_over); }
  [[nodiscard]] bool has_fence() const noexcept { return static_cast<bool>(is_taken_over_); }
  /// The same check for whoever changes a file that was opened earlier.
  /// @throws Error{storage_failure}.
  void check_fence(const std::string& name) const;

  // Files. `access` is O_RDONLY, O_WRONLY or O_RDWR, perhaps with flags such as O_DIRECT.
  /// Make a new file. What has the name is removed.
  [[nodiscard]] Descriptor create(const std::string& name, int access) const;
  /// The same, or nothing if something has the name.
  [[nodiscard]] std::optional<Descriptor> create_first(const std::string& name, int access) const;
  /// Make a new file, or open the one that another process of this job has made.
  [[nodiscard]] Descriptor create_or_share(const std::string& name, int access) const;
  /// Make a file without a name, which is gone when it is closed. It is not open if the file system
  /// has none; errno says why.
  [[nodiscard]] Descriptor create_nameless(int access) const noexcept;
  /// Open a file that is there.
  [[nodiscard]] Descriptor open(const std::string& name, int access,
                                Links links = Links::as_they_are) const;
  /// The same, or nothing if nothing has the name.
  [[nodiscard]] std::optional<Descriptor> open_if_there(const std::string& name, int access,
                                                        Links links = Links::as_they_are) const;
  /// Open a file that this job has made. It has one name.
  [[nodiscard]] Descriptor open_own(const std::string& name, int access) const;
  /// The text of a file, or nothing if nothing has the name. Links are followed.
  [[nodiscard]] std::optional<std::string> read(const std::string& name,
                                                std::int64_t most_bytes = longest_text_bytes) const;

  // Names.
  /// The status of the file with this name, or nothing if there is none.
  [[nodiscard]] std::optional<struct stat> find(const std::string& name,
                                                Links links = Links::as_they_are) const;
  [[nodiscard]] bool has(const std::string& name) const { return find(name).has_value(); }
  /// The absolute path of what a link leads to, or nothing if this is none, or leads nowhere.
  [[nodiscard]] std::string end_of_link(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;  ///< without "." and ".."
  /// Give a file another name. @return 0 or an errno, as all that follow.
  [[nodiscard]] int rename(const std::string& from, const std::string& to) const noexcept;
  /// The same, unless something has that name. Also on file systems that know no such rename. If
  /// they know no links either, a moment lies between a look and the rename.
  [[nodiscard]] int rename_first(const std::string& from, const std::string& to) const noexcept;
  [[nodiscard]] int exchange(const std::string& one, const std::string& other) const noexcept;
  int unlink(const std::string& name) const noexcept;
  /// Remove a file, a link, or a folder with all that is in it. It may be gone already.
  int remove(const std::string& name) const noexcept;
  [[nodiscard]] int make_folder(const std::string& name) const noexcept;
  /// Make the names in it durable.
  void sync() const;

  /// Open a folder in it.
  [[nodiscard]] OpenFolder folder(const std::string& name, Links links = Links::as_they_are) const;
  /// The highest folder above it on the same file system, or itself.
  [[nodiscard]] OpenFolder top() const;
  /// The facts that the file system tells of itself, or nothing if it tells none.
  [[nodiscard]] std::optional<struct statfs> file_system() const noexcept;
  /// Read an extended attribute of the folder. @return its bytes; 0 if there is none.
  [[nodiscard]] std::size_t attribute(const char* name, std::span<std::byte> bytes) const noexcept;

 private:
  OpenFolder(Descriptor opened, std::string said, FolderAddress address);
  [[nodiscard]] bool is_fenced() const noexcept { return is_taken_over_ && is_taken_over_(); }
  [[nodiscard]] Descriptor open_raw(const std::string& name, int flags) const noexcept;
  [[nodiscard]] Descriptor checked(Descriptor file, const std::string& name) const;
  [[nodiscard]] Descriptor with_one_name(Descriptor file, const std::string& name) const;
  [[nodiscard]] Descriptor open_through_own_link(const std::string& name, int access) const;

  std::string said_;
  Descriptor opened_;
  FolderAddress address_;
  std::function<bool()> is_taken_over_;
};

/// True for the errno of a rename or a link that the file system does not know.
[[nodiscard]] bool is_not_supported(int error) noexcept;

/// The text of an open file. @param path  is for messages. @throws Error{storage_failure}.
[[nodiscard]] std::string read_text(const Descriptor& file, const std::string& path,
                                    std::int64_t most_bytes = longest_text_bytes);

/// A name under which this process, and a library in it, can open what a descriptor is for once
/// more, as long as that is open. It is the same file, whatever has its name by now.
[[nodiscard]] std::string name_of(const Descriptor& opened);

/// Such a name whose last part no other process has: a link that goes with this object. Open MPI
/// makes a semaphore of the node, named after the last part. Numbers of descriptors are the same in
/// many jobs, and a job waits for ever for a semaphore that a killed job or another user has left.
/// The semaphore's name goes too. Where no link can be made, the name is that of the descriptor.
class OwnName {
 public:
  explicit OwnName(const Descriptor& opened);
  OwnName(const OwnName&) = delete;
  OwnName& operator=(const OwnName&) = delete;
  ~OwnName();

  friend const std::string& name_of(const OwnName& name) noexcept { return name.text_; }

 private:
  std::string text_;
  std::string last_;  // empty: no link
};
/// Open it once more, with other flags. It is not open after a failure; errno says why.
[[nodiscard]] Descriptor open_again(const Descriptor& opened, int access) noexcept;
/// True for a file without a name. Somebody may remove a file that several processes write, after
/// one of them has opened it and before another does. They would write two files, of which one is
/// lost.
[[nodiscard]] bool has_lost_its_name(const Descriptor& opened) noexcept;

}  // namespace iocomp
