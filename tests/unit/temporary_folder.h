// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mount.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace iocomp {

/// A folder of one test's own.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "iocomp-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error{"no temporary folder"};
    }
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

/// A tmpfs mounted on a folder, where this process may mount.
class Mounted {
 public:
  Mounted(const std::string& path, const char* options) : path_{path} {
    std::filesystem::create_directory(path);
    is_mounted_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, options) == 0;
  }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;
  ~Mounted() {
    if (is_mounted_) {
      ::umount2(path_.c_str(), MNT_DETACH);
    }
  }
  [[nodiscard]] bool is_mounted() const noexcept { return is_mounted_; }
  bool make_read_only() const {
    return ::mount("", path_.c_str(), "", MS_REMOUNT | MS_RDONLY, "") == 0;
  }

 private:
  std::string path_;
  bool is_mounted_ = false;
};

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

inline std::string text_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

inline std::ptrdiff_t files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator{folder}, {});
}

}  // namespace iocomp
