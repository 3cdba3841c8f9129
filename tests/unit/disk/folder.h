// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "disk/options.h"

namespace iocomp::disk {

/// A folder of its own for each test; gone at the end.
class Folder {
 public:
  Folder() : path_{testing::TempDir() + "iocomp-disk-XXXXXX"} {
    if (::mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error{"cannot make a folder like " + path_};
    }
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// As whoever writes it opens it.
inline Descriptor opened(const std::string& path) {
  return Descriptor{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
}

inline std::vector<std::byte> content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::vector<std::byte> bytes(std::filesystem::file_size(path));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// Random bytes that begin at a page.
class PageAligned {
 public:
  explicit PageAligned(std::size_t bytes, std::uint32_t seed = 1) : size_{bytes} {
    data_ = static_cast<std::byte*>(::operator new(bytes, alignment));
    std::mt19937_64 generator{seed};
    for (std::size_t first = 0; first < size_; first += sizeof(std::uint64_t)) {
      const std::uint64_t word = generator();
      std::memcpy(data_ + first, &word, std::min(sizeof word, size_ - first));
    }
  }
  PageAligned(const PageAligned&) = delete;
  PageAligned& operator=(const PageAligned&) = delete;
  ~PageAligned() { ::operator delete(data_, alignment); }

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::span<std::byte> bytes() { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> part(std::size_t first, std::size_t count) const {
    return bytes().subspan(first, count);
  }

 private:
  static constexpr std::align_val_t alignment{4096};
  std::byte* data_;
  std::size_t size_;
};

inline const auto every_mode = testing::Values(Direct::automatic, Direct::on, Direct::off);

inline std::string mode_name(const testing::TestParamInfo<Direct>& tested) {
  switch (tested.param) {
    case Direct::automatic:
      return "Automatic";
    case Direct::on:
      return "On";
    case Direct::off:
      return "Off";
  }
  return "None";
}

/// Compares at the speed of memory also under a sanitizer.
inline bool same(std::span<const std::byte> left, std::span<const std::byte> right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}

}  // namespace iocomp::disk
