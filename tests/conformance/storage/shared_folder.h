// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iocomp::formats {

/// A folder of one test's own, made by rank 0 and removed by it when all have left. Collective over
/// MPI_COMM_WORLD.
class SharedFolder {
 public:
  SharedFolder();
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

/// A tmpfs of `bytes` mounted for one test, where this process may mount. Collective over
/// MPI_COMM_WORLD.
class SmallDisk {
 public:
  SmallDisk(const SharedFolder& folder, long bytes, bool read_only);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk();

  /// Otherwise the test has to be skipped.
  [[nodiscard]] bool is_mounted() const noexcept { return is_mounted_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + '/' + name; }
  /// Write a file until there is no room left. Local; call it on one rank.
  void fill() const;

 private:
  std::string path_;
  bool is_mounted_ = false;
};

[[nodiscard]] int rank();
[[nodiscard]] int ranks();
/// Collective over MPI_COMM_WORLD.
void barrier();
/// True if it holds on some rank. Collective over MPI_COMM_WORLD.
[[nodiscard]] bool on_some_rank(bool holds);

}  // namespace iocomp::formats
