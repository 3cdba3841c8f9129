// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace iocomp::transport {

/// Memory that other processes of the node can map. Its pages are reserved before they are touched,
/// so that a full /dev/shm is an error here and never a SIGBUS later.
/// Move-only.
class SharedMapping {
 public:
  enum class Kind { memfd, shm };
  enum class Pages {
    reserved,   ///< all pages, at once
    on_demand,  ///< by `reserve`
  };

  SharedMapping() noexcept = default;
  SharedMapping(SharedMapping&& other) noexcept
      : bytes_{std::exchange(other.bytes_, {})},
        descriptor_{std::exchange(other.descriptor_, -1)},
        path_{std::move(other.path_)},
        named_{std::exchange(other.named_, false)},
        pages_{other.pages_} {}
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;
  ~SharedMapping();

  /// Make `bytes` of zeroed memory for reading and writing.
  /// @param name  of a file in /dev/shm (kind shm), or in /proc/<pid>/maps.
  /// @throws Error{out_of_staging_memory} with what is needed and what is free.
  static SharedMapping create(Kind kind, const std::string& name, std::size_t bytes,
                              Pages pages = Pages::reserved);
  /// Map memory that another process of the node has made.
  /// @throws Error{unsupported} if the system refuses.
  static SharedMapping open(const std::string& path, std::size_t bytes, bool writable,
                            Pages pages = Pages::reserved);

  /// Reserve the pages of a part. @return false if the system has none left.
  /// @pre this process writes to the memory, and nobody uses this part yet.
  [[nodiscard]] bool reserve(std::size_t offset, std::size_t bytes) const noexcept;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// The path that others open while this object lives (memfd), or until `forget_name` (shm).
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The descriptor of the memory. It is -1 after `forget_name`, and in processes that have opened
  /// the memory, unless they reserve pages.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Nobody else will open the memory, so nothing of it is left in the file system from now on.
  void forget_name() noexcept;

 private:
  void release() noexcept;

  std::span<std::byte> bytes_;
  int descriptor_ = -1;  // kept while others may open it through /proc, or to reserve pages
  std::string path_;
  bool named_ = false;  // the path is a file of /dev/shm
  Pages pages_ = Pages::reserved;
};

}  // namespace iocomp::transport
