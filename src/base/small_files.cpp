// SPDX-License-Identifier: BSD-3-Clause
#include "base/small_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/plain_io.h"

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

}  // namespace

void write_durably(const Path& path, const Path& temporary, std::string_view text) {
  write_durably(path, temporary, std::span{&text, 1});
}

void write_durably(const Path& path, const Path& temporary,
                   std::span<const std::string_view> parts) {
  NewFile{path, temporary, parts}.appear();
}

std::optional<struct stat> find_file(const std::string& path) {
  const auto folder = OpenFolder::if_there(folder_of(path));
  return folder ? folder->find(name_in_folder(path), OpenFolder::Links::followed) : std::nullopt;
}

void make_folders(const std::string& path) {
  if (OpenFolder::if_there(path)) {
    return;
  }
  const std::string above = folder_of(path);
  if (above != path) {
    make_folders(above);
  }
  const int error = OpenFolder{above}.make_folder(name_in_folder(path));
  if (error != 0 && error != EEXIST) {
    throw failure("make the folder", path, error);
  }
}

std::vector<std::string> names_in(const std::string& folder) {
  const auto opened = OpenFolder::if_there(folder);
  return opened ? opened->names() : std::vector<std::string>{};
}

std::optional<std::string> read_file(const std::string& path, std::int64_t most_bytes) {
  const auto folder = OpenFolder::if_there(folder_of(path));
  return folder ? folder->read(name_in_folder(path), most_bytes) : std::nullopt;
}

std::optional<std::string> read_file(const Path& path, std::int64_t most_bytes) {
  return path.folder().read(path.name(), most_bytes);
}

void write_file(const std::string& path, std::string_view text) {
  const Path to{path};
  const auto found = to.folder().find(to.name());
  Descriptor file;
  if (found && !S_ISREG(found->st_mode)) {
    file = to.folder().open(to.name(), O_WRONLY | O_TRUNC, OpenFolder::Links::of_owner);
  } else {
    file = to.folder().create(to.name(), O_WRONLY);
  }
  write_all(file, path, text);
  if (file.close() != 0) {
    throw failure("close", path, errno);
  }
}

NewFile::NewFile(Path path, Path temporary, std::span<const std::string_view> parts)
    : path_{std::move(path)},
      temporary_{std::move(temporary)},
      file_{temporary_.folder().create(temporary_.name(), O_WRONLY)} {
  try {
    for (const auto& text : parts) {
      write_all(file_, temporary_.text(), text);
    }
  } catch (...) {
    remove();
    throw;
  }
  // A hint: where it fails, fsync does the work and tells what is wrong.
  (void)::sync_file_range(file_.raw(), 0, 0, SYNC_FILE_RANGE_WRITE);
}

void NewFile::remove() noexcept {
  if (file_.is_open()) {
    file_.close();
    temporary_.folder().unlink(temporary_.name());
  }
}

void NewFile::appear() {
  const OpenFolder& folder = path_.folder();
  try {
    if (!has_bug(Bug::manifest_not_synced)) {
      make_durable(file_, temporary_.text());
    }
    if (file_.close() != 0) {
      throw failure("close", temporary_.text(), errno);
    }
    if (const int error = folder.rename(temporary_.name(), path_.name()); error != 0) {
      throw failure("rename " + temporary_.text() + " to", path_.text(), error);
    }
  } catch (...) {
    file_.close();
    folder.unlink(temporary_.name());
    throw;
  }
  folder.sync();
}

}  // namespace iocomp
