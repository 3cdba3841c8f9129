// SPDX-License-Identifier: BSD-3-Clause
#include "base/folder_targets.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "base/descriptor.h"
#include "base/failure.h"
#include "base/small_files.h"

namespace iocomp {
namespace {

namespace fs = std::filesystem;

void sync(const std::string& path) {
  const Descriptor opened{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (!opened.is_open()) {
    throw failure("open", path, errno);
  }
  // Some network file systems know no fsync of a folder and say EINVAL.
  if (::fsync(opened.raw()) != 0 && errno != EINVAL) {
    throw failure("fsync", path, errno);
  }
}

template <typename Action>
void for_each_file_in(const std::string& folder, const Action& action) {
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}; !error && entry != fs::directory_iterator{};
       entry.increment(error)) {
    action(entry->path().string());
  }
  if (error) {
    throw failure("read the folder", folder, error.value());
  }
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

}  // namespace

std::int64_t size_of_target(const std::string& path) {
  if (!is_folder(path)) {
    return size_of_file(path);
  }
  std::int64_t sum = 0;
  for_each_file_in(path, [&sum](const std::string& file) { sum += size_of_file(file); });
  return sum;
}

void make_durable(const std::string& path) {
  if (is_folder(path)) {
    for_each_file_in(path, sync);
  }
  sync(path);
}

void remove_target(const std::string& path) noexcept {
  std::error_code ignored;
  try {
    fs::remove_all(path, ignored);
  } catch (const std::bad_alloc&) {  // what stays is removed by the next job
  }
}

bool is_folder_of_a_format(const std::string& path, const std::string& mark) {
  std::error_code error;
  bool has_mark = false;
  for (fs::directory_iterator entry{path, error}; !error && entry != fs::directory_iterator{};
       entry.increment(error)) {
    if (!fs::is_regular_file(entry->symlink_status(error))) {
      return false;
    }
    has_mark = has_mark || entry->path().filename() == mark;
  }
  return !error && has_mark;
}

}  // namespace iocomp
