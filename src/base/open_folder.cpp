// SPDX-License-Identifier: BSD-3-Clause
#include "base/open_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/byte_size.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/system_file.h"

namespace iocomp {
namespace {

// Somebody may put something under the name of a file again and again.
constexpr int most_tries = 16;
constexpr mode_t for_everybody = 0666;  // less umask, as for all that follows
constexpr mode_t folder_for_everybody = 0777;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
// A pipe would wait for who writes, a terminal would become that of the process.
constexpr int without_waiting = O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

template <typename Call>
Descriptor opened_by(Call call) noexcept {
  int raw = call();
  while (raw == -1 && errno == EINTR) {
    raw = call();
  }
  return Descriptor{raw};
}

int errno_of(int result) noexcept { return result == 0 ? 0 : errno; }

// Makes a call that changes a name. @return 0 or its errno.
template <typename Call>
int changed_by(Call call, bool is_fenced) noexcept {
  return is_fenced ? ECANCELED : errno_of(call());
}

std::string kind_of(mode_t mode) {
  return S_ISFIFO(mode)   ? "a pipe"
         : S_ISDIR(mode)  ? "a folder"
         : S_ISLNK(mode)  ? "a link"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

Error is_no_file(const std::string& path, mode_t mode) {
  return Error{ErrorCode::storage_failure,
               "cannot open " + path + ": it is " + kind_of(mode) + ", not a file"};
}

std::string working_directory() {
  std::array<char, PATH_MAX> path{};
  if (::getcwd(path.data(), path.size()) == nullptr) {
    throw failure("tell", "the working directory", errno);
  }
  return path.data();
}

std::string or_here(const std::string& path) { return path.empty() ? "." : path; }

void set_numbers(FolderAddress& address, const struct stat& status) {
  address.device = status.st_dev;
  address.inode = status.st_ino;
  address.system = std::hash<std::string>{}(boot_id());
}

}  // namespace

std::string absolute_path(const std::string& path) {
  if (path.starts_with('/')) {
    return path;
  }
  const std::string here = working_directory();
  return path.empty() || path == "." ? here : here + (here.ends_with('/') ? "" : "/") + path;
}

bool is_not_supported(int error) noexcept {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EPERM ||
         error == EMLINK;
}

bool have_the_same_numbers(const FolderAddress& one, const FolderAddress& other) {
  return one.inode != 0 && one.inode == other.inode &&
         (one.system != other.system || one.device == other.device);
}

FolderAddress address_of(const std::string& path) {
  FolderAddress address{.path = or_here(path)};
  (void)outcome_of([&] { address.path = absolute_path(path); });
  struct stat status{};
  if (::stat(or_here(path).c_str(), &status) == 0) {
    set_numbers(address, status);
  }
  return address;
}

std::string name_of(const Descriptor& opened) {
  return "/proc/self/fd/" + std::to_string(opened.raw());
}

OwnName::OwnName(const Descriptor& opened) : text_{name_of(opened)} {
  std::random_device random;
  std::string last = "iocomp-";
  for (int part = 0; part < 4; ++part) {
    last += std::to_string(random());
  }
  if (::symlink(text_.c_str(), ("/dev/shm/" + last).c_str()) == 0) {
    text_ = "/dev/shm/" + last;
    last_ = std::move(last);
  }
}

OwnName::~OwnName() {
  if (!last_.empty()) {
    ::unlink(text_.c_str());
    ::sem_unlink(("/OMPIO_" + last_).c_str());
  }
}

Descriptor open_again(const Descriptor& opened, int access) noexcept {
  try {
    const std::string name = name_of(opened);
    return opened_by([&] { return ::open(name.c_str(), access | O_CLOEXEC); });
  } catch (const std::exception&) {
    errno = ENOMEM;
    return {};
  }
}

bool has_lost_its_name(const Descriptor& opened) noexcept {
  struct stat status{};
  return ::fstat(opened.raw(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0;
}

std::string read_text(const Descriptor& file, const std::string& path, std::int64_t most_bytes) {
  std::string text;
  std::array<char, 16384> part{};
  while (const ssize_t count = ::read(file.raw(), part.data(), part.size())) {
    if (count > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw failure("read", path, errno);
    }
    if (std::ssize(text) > most_bytes) {
      throw Error{ErrorCode::storage_failure, "cannot read " + path + ": it has more than " +
                                                  format_bytes(most_bytes) +
                                                  ", so it is no file of iocomp"};
    }
  }
  return text;
}

OpenFolder::OpenFolder(Descriptor opened, std::string said, FolderAddress address)
    : said_{std::move(said)}, opened_{std::move(opened)}, address_{std::move(address)} {
  struct stat status{};
  if (!opened_.is_open() || ::fstat(opened_.raw(), &status) != 0) {
    throw failure("open the folder", or_here(said_), errno);
  }
  set_numbers(address_, status);
}

OpenFolder::OpenFolder(std::string path) : OpenFolder{or_here(path), path} {}

OpenFolder::OpenFolder(const std::string& path, std::string said)
    : OpenFolder{opened_by([&] { return ::open(path.c_str(), folder_flags); }), std::move(said),
                 FolderAddress{}} {
  address_.path = absolute_path(path);
}

std::optional<OpenFolder> OpenFolder::if_there(const std::string& path) {
  struct stat status{};
  const bool is_there = ::stat(or_here(path).c_str(), &status) == 0;
  if (is_there ? !S_ISDIR(status.st_mode) : errno == ENOENT || errno == ENOTDIR) {
    return std::nullopt;
  }
  return OpenFolder{path};
}

void OpenFolder::check_fence(const std::string& name) const {
  if (is_fenced()) {
    throw failure("write", text(name), ECANCELED);
  }
}

std::string OpenFolder::text(const std::string& name) const {
  return said_ + (said_.empty() || said_.ends_with('/') ? "" : "/") + name;
}

Descriptor OpenFolder::open_raw(const std::string& name, int flags) const noexcept {
  if ((flags & O_ACCMODE) != O_RDONLY && is_fenced()) {
    errno = ECANCELED;
    return {};
  }
  return opened_by([&] {
    return ::openat(opened_.raw(), name.c_str(), flags | without_waiting, for_everybody);
  });
}

// The file was opened without waiting; writes to it shall wait, since io_uring refuses to for such
// files.
Descriptor OpenFolder::checked(Descriptor file, const std::string& name) const {
  struct stat status{};
  if (::fstat(file.raw(), &status) != 0) {
    throw failure("look at", text(name), errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw is_no_file(text(name), status.st_mode);
  }
  const int flags = ::fcntl(file.raw(), F_GETFL);
  if (flags == -1 || ::fcntl(file.raw(), F_SETFL, flags & ~O_NONBLOCK) == -1) {
    throw failure("open", text(name), errno);
  }
  return file;
}

std::optional<Descriptor> OpenFolder::create_first(const std::string& name, int access) const {
  check_fence(name);
  auto file = opened_by([&] {
    return ::openat(opened_.raw(), name.c_str(), access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    for_everybody);
  });
  if (file.is_open()) {
    return file;
  }
  if (errno != EEXIST) {
    throw failure("create", text(name), errno);
  }
  return std::nullopt;
}

Descriptor OpenFolder::create(const std::string& name, int access) const {
  for (int i = 0; i < most_tries; ++i) {
    if (auto file = create_first(name, access)) {
      return *std::move(file);
    }
    if (const int error = remove(name); error != 0) {
      throw failure("remove what lies at", text(name), error);
    }
  }
  throw failure("create", text(name), EEXIST);
}

namespace {

// Several ranks may find the same thing under the name of their file. When one of them removes it,
// the name may be that of the new file of another. So the thing is moved aside first, and a file
// gets its name back.
void remove_no_file(const OpenFolder& folder, const std::string& name) {
  static std::atomic<int> count = 0;
  const std::string aside =
      name + ".aside-" + std::to_string(::getpid()) + '-' + std::to_string(++count);
  if (folder.rename(name, aside) != 0) {
    return;  // it has gone, or the next try tells
  }
  const auto found = folder.find(aside);
  if (!found || !S_ISREG(found->st_mode)) {
    (void)folder.remove(aside);
  } else if (const int error = folder.rename_first(aside, name); error != 0) {
    throw failure("keep the file that another rank has made at", folder.text(name), error);
  }
}

}  // namespace

Descriptor OpenFolder::create_or_share(const std::string& name, int access) const {
  for (int i = 0; i < most_tries; ++i) {
    if (auto file = create_first(name, access)) {
      return *std::move(file);
    }
    const auto found = find(name);
    if (found && !S_ISREG(found->st_mode)) {
      remove_no_file(*this, name);
    } else if (auto file = open_if_there(name, access)) {
      return with_one_name(*std::move(file), name);
    }
  }
  throw failure("create", text(name), EEXIST);
}

Descriptor OpenFolder::create_nameless(int access) const noexcept {
  constexpr mode_t own = 0600;
  return opened_by(
      [&] { return ::openat(opened_.raw(), ".", O_TMPFILE | access | O_CLOEXEC, own); });
}

// A link that somebody else puts there meanwhile is not read: the one that was looked at is held.
Descriptor OpenFolder::open_through_own_link(const std::string& name, int access) const {
  const Descriptor link{::openat(opened_.raw(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
  struct stat status{};
  std::array<char, PATH_MAX> target{};
  const bool is_own = link.is_open() && ::fstat(link.raw(), &status) == 0 &&
                      S_ISLNK(status.st_mode) && status.st_uid == ::geteuid() &&
                      ::readlinkat(link.raw(), "", target.data(), target.size() - 1) > 0;
  if (!is_own) {
    errno = ELOOP;
    return {};
  }
  return open_raw(target.data(), access | O_NOFOLLOW);
}

std::optional<Descriptor> OpenFolder::open_if_there(const std::string& name, int access,
                                                    Links links) const {
  Descriptor file = open_raw(name, access | (links == Links::followed ? 0 : O_NOFOLLOW));
  if (!file.is_open() && errno == ELOOP && links == Links::of_owner) {
    file = open_through_own_link(name, access);
  }
  if (file.is_open()) {
    return checked(std::move(file), name);
  }
  const int error = errno;
  // Without a free descriptor the system does not even look. This look takes none.
  const bool has_no_more = error == EMFILE || error == ENFILE;
  if (error == ENOENT || (has_no_more && !find(name, links))) {
    return std::nullopt;
  }
  if (const auto found =
          error == ELOOP || error == ENXIO || error == EISDIR ? find(name) : std::nullopt;
      found && !S_ISREG(found->st_mode)) {
    throw is_no_file(text(name), found->st_mode);
  }
  throw failure("open", text(name), error);
}

Descriptor OpenFolder::open(const std::string& name, int access, Links links) const {
  auto file = open_if_there(name, access, links);
  if (!file) {
    throw failure("open", text(name), ENOENT);
  }
  return *std::move(file);
}

// Somebody may have given another file this name too.
Descriptor OpenFolder::with_one_name(Descriptor file, const std::string& name) const {
  struct stat status{};
  if (::fstat(file.raw(), &status) != 0) {
    throw failure("look at", text(name), errno);
  }
  if (status.st_nlink != 1) {
    throw Error{ErrorCode::storage_failure,
                "cannot open " + text(name) +
                    ": it is no longer the file of this job alone, it has " +
                    std::to_string(status.st_nlink) + " names"};
  }
  return file;
}

Descriptor OpenFolder::open_own(const std::string& name, int access) const {
  return with_one_name(open(name, access), name);
}

std::optional<std::string> OpenFolder::read(const std::string& name,
                                            std::int64_t most_bytes) const {
  const auto file = open_if_there(name, O_RDONLY, Links::followed);
  return file ? std::optional{read_text(*file, text(name), most_bytes)} : std::nullopt;
}

std::optional<struct stat> OpenFolder::find(const std::string& name, Links links) const {
  struct stat status{};
  const int flags = links == Links::followed ? 0 : AT_SYMLINK_NOFOLLOW;
  if (::fstatat(opened_.raw(), name.c_str(), &status, flags) == 0) {
    return status;
  }
  if (errno != ENOENT) {
    throw failure("find", text(name), errno);
  }
  return std::nullopt;
}

std::string OpenFolder::end_of_link(const std::string& name) const {
  const auto found = find(name);
  if (!found || !S_ISLNK(found->st_mode)) {
    return {};
  }
  const Descriptor end{::openat(opened_.raw(), name.c_str(), O_PATH | O_CLOEXEC)};
  std::array<char, PATH_MAX> path{};
  const bool is_there =
      end.is_open() && ::readlink(name_of(end).c_str(), path.data(), path.size() - 1) > 0;
  return is_there ? path.data() : std::string{};
}

std::vector<std::string> OpenFolder::names() const {
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const int again = ::openat(opened_.raw(), ".", folder_flags);
  const std::unique_ptr<DIR, decltype(close)> listed{again == -1 ? nullptr : ::fdopendir(again),
                                                     close};
  if (!listed) {
    const int error = errno;
    if (again != -1) {
      ::close(again);
    }
    throw failure("read the folder", or_here(said_), error);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(listed.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      names.push_back(name);
    }
  }
  return names;
}

int OpenFolder::rename(const std::string& from, const std::string& to) const noexcept {
  return changed_by(
      [&] { return ::renameat(opened_.raw(), from.c_str(), opened_.raw(), to.c_str()); },
      is_fenced());
}

int OpenFolder::rename_first(const std::string& from, const std::string& to) const noexcept {
  const int folder = opened_.raw();
  int error = changed_by(
      [&] { return ::renameat2(folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE); },
      is_fenced());
  if (error == 0 || !is_not_supported(error)) {
    return error;
  }
  error = changed_by([&] { return ::linkat(folder, from.c_str(), folder, to.c_str(), 0); },
                     is_fenced());
  if (error == 0 || !is_not_supported(error)) {
    return error == 0 ? unlink(from) : error;
  }
  struct stat status{};
  return ::fstatat(folder, to.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? EEXIST
                                                                          : rename(from, to);
}

int OpenFolder::exchange(const std::string& one, const std::string& other) const noexcept {
  const int folder = opened_.raw();
  return changed_by(
      [&] { return ::renameat2(folder, one.c_str(), folder, other.c_str(), RENAME_EXCHANGE); },
      is_fenced());
}

int OpenFolder::unlink(const std::string& name) const noexcept {
  return changed_by([&] { return ::unlinkat(opened_.raw(), name.c_str(), 0); }, is_fenced());
}

int OpenFolder::remove(const std::string& name) const noexcept {
  const int error = unlink(name);
  if (error != EISDIR && error != EPERM) {
    return error == ENOENT ? 0 : error;
  }
  try {
    const OpenFolder inside = folder(name);
    for (const auto& each : inside.names()) {
      (void)inside.remove(each);
    }
  } catch (const std::exception&) {
    return error;  // it is no folder, or cannot be opened
  }
  return changed_by([&] { return ::unlinkat(opened_.raw(), name.c_str(), AT_REMOVEDIR); },
                    is_fenced());
}

int OpenFolder::make_folder(const std::string& name) const noexcept {
  return changed_by([&] { return ::mkdirat(opened_.raw(), name.c_str(), folder_for_everybody); },
                    is_fenced());
}

void OpenFolder::sync() const {
  if (has_bug(Bug::folder_not_synced)) {
    return;
  }
  // Some network file systems know no fsync of a folder and say EINVAL: there is nothing more to do
  // there.
  if (::fsync(opened_.raw()) != 0 && errno != EINVAL) {
    throw failure("fsync the folder", or_here(said_), errno);
  }
}

OpenFolder OpenFolder::folder(const std::string& name, Links links) const {
  const int flags = folder_flags | (links == Links::followed ? 0 : O_NOFOLLOW);
  OpenFolder inside{opened_by([&] { return ::openat(opened_.raw(), name.c_str(), flags); }),
                    text(name), FolderAddress{.path = address_.path + '/' + name}};
  inside.fence(is_taken_over_);
  return inside;
}

OpenFolder OpenFolder::top() const {
  OpenFolder highest = folder(".", Links::followed);
  while (true) {
    struct stat above{};
    const bool is_on_top = ::fstatat(highest.opened_.raw(), "..", &above, 0) != 0 ||
                           above.st_dev != highest.address_.device ||
                           above.st_ino == highest.address_.inode;
    if (is_on_top || !outcome_of([&] { highest = highest.folder("..", Links::followed); }).ok()) {
      return highest;
    }
  }
}

std::optional<struct statfs> OpenFolder::file_system() const noexcept {
  struct statfs found{};
  return ::fstatfs(opened_.raw(), &found) == 0 ? std::optional{found} : std::nullopt;
}

std::size_t OpenFolder::attribute(const char* name, std::span<std::byte> bytes) const noexcept {
  const ssize_t count = ::fgetxattr(opened_.raw(), name, bytes.data(), bytes.size());
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace iocomp
