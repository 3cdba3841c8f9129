// SPDX-License-Identifier: BSD-3-Clause
#include "base/small_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/failure.h"

namespace iocomp {
namespace {

void write_all(const Descriptor& file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.raw(), text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw failure("write", path, errno);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A new one in any case: a process that was stopped may go on to write the one that was there.
Descriptor create_anew(const std::string& path) {
  ::unlink(path.c_str());
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (!file.is_open()) {
    throw failure("create", path, errno);
  }
  return file;
}

std::vector<std::string> read_names(const std::string& folder, bool may_be_missing) {
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> opened{::opendir(folder.c_str()), close};
  if (!opened && (errno != ENOENT || !may_be_missing)) {
    throw failure("read the folder", folder, errno);
  }
  std::vector<std::string> names;
  while (const dirent* entry = opened ? ::readdir(opened.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      names.push_back(name);
    }
  }
  return names;
}

// Nobody may have put a pipe under the name of a file: opening it would wait for who writes.
constexpr int for_reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

std::string read_all(const Descriptor& file, const std::string& path) {
  std::string text;
  std::array<char, 4096> part{};
  while (const ssize_t count = ::read(file.raw(), part.data(), part.size())) {
    if (std::ssize(text) + count > most_text_bytes) {
      throw Error{ErrorCode::storage_failure, "cannot read " + path + ": it has more than the " +
                                                  std::to_string(most_text_bytes) +
                                                  " bytes that a text may have"};
    }
    if (count > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw failure("read", path, errno);
    }
  }
  return text;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_in_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

void write_durably(const std::string& path, const std::string& temporary, std::string_view text) {
  write_durably(path, temporary, std::span{&text, 1});
}

void write_durably(const std::string& path, const std::string& temporary,
                   std::span<const std::string_view> parts,
                   const std::function<void()>& may_appear) {
  NewFile{path, temporary, parts}.appear(may_appear);
}

std::int64_t size_of_file(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    throw failure("find", path, errno);
  }
  return status.st_size;
}

void refuse_pipe(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode)) {
    throw Error{ErrorCode::storage_failure, "cannot read " + path + ": it is a pipe"};
  }
}

std::vector<std::string> names_in(const std::string& folder) { return read_names(folder, true); }

std::vector<std::string> names_in_existing(const std::string& folder) {
  return read_names(folder, false);
}

std::optional<std::string> read_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), for_reading)};
  return file.is_open() ? std::optional{read_all(file, path)} : std::nullopt;
}

OpenFolder::OpenFolder(const std::string& path)
    : folder_{folder_of(path)},
      opened_{::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)} {
  if (!opened_.is_open()) {
    throw failure("open the folder", folder_, errno);
  }
}

void OpenFolder::sync() const {
  if (has_bug(Bug::folder_not_synced)) {
    return;
  }
  // Some network file systems know no fsync of a folder and say EINVAL: there is nothing more to do
  // there.
  if (::fsync(opened_.raw()) != 0 && errno != EINVAL) {
    throw failure("fsync the folder", folder_, errno);
  }
}

std::optional<struct stat> OpenFolder::find(const std::string& name, Links links) const {
  struct stat status{};
  const int flags = links == Links::as_they_are ? AT_SYMLINK_NOFOLLOW : 0;
  if (::fstatat(opened_.raw(), name.c_str(), &status, flags) == 0) {
    return status;
  }
  if (errno != ENOENT) {
    throw failure("find", folder_ + '/' + name, errno);
  }
  return std::nullopt;
}

std::optional<std::string> OpenFolder::read(const std::string& name) const {
  const std::string path = folder_ + '/' + name;
  const Descriptor file{::openat(opened_.raw(), name.c_str(), for_reading)};
  if (file.is_open()) {
    return read_all(file, path);
  }
  if (errno != ENOENT) {
    throw failure("open", path, errno);
  }
  return std::nullopt;
}

NewFile::NewFile(std::string path, std::string temporary, std::span<const std::string_view> parts)
    : path_{std::move(path)},
      temporary_{std::move(temporary)},
      folder_{path_},
      file_{create_anew(temporary_)} {
  try {
    for (const auto& text : parts) {
      write_all(file_, temporary_, text);
    }
  } catch (...) {
    remove();
    throw;
  }
  // A hint: where it fails, fsync does the work and tells what is wrong.
  (void)::sync_file_range(file_.raw(), 0, 0, SYNC_FILE_RANGE_WRITE);
}

void check_may_appear(const std::function<void()>& may_appear) {
  if (may_appear) {
    may_appear();
  }
}

void NewFile::remove() noexcept {
  if (file_.is_open()) {
    file_.close();
    ::unlink(temporary_.c_str());
  }
}

void NewFile::appear(const std::function<void()>& may_appear) {
  try {
    if (!has_bug(Bug::manifest_not_synced) && ::fsync(file_.raw()) != 0) {
      throw failure("fsync", temporary_, errno);
    }
    if (file_.close() != 0) {
      throw failure("close", temporary_, errno);
    }
    check_may_appear(may_appear);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
      throw failure("rename " + temporary_ + " to", path_, errno);
    }
  } catch (...) {
    file_.close();
    ::unlink(temporary_.c_str());
    throw;
  }
  folder_.sync();
}

bool is_in_folder(const std::string& path) { return OpenFolder{path}.has(name_in_folder(path)); }

std::optional<std::string> read_in_folder(const std::string& path) {
  return OpenFolder{path}.read(name_in_folder(path));
}

void sync_folder_of(const std::string& path) { OpenFolder{path}.sync(); }

}  // namespace iocomp
