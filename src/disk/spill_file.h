// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/free_ranges.h"
#include "disk/options.h"
#include "disk/output_file.h"

namespace iocomp::disk {

/// A file in which bytes wait that find no room in memory. It has no name, so nothing of it is left
/// when the process has ended, however it ends. On a file system that has no such files it loses
/// its name as soon as it is open: who is killed in just that moment leaves an empty
/// ".iocomp-spill-<pid>-<number>". What it holds is never fsynced. Where the file system has
/// O_DIRECT, whole pages pass the page cache: the file takes no memory. Used by one thread.
class SpillFile {
 public:
  /// A range of bytes in the file. Gives the room back when destroyed. The file outlives it.
  /// Move-only.
  class Part {
   public:
    Part(Part&& other) noexcept
        : file_{std::exchange(other.file_, nullptr)},
          begin_{other.begin_},
          offset_{other.offset_},
          bytes_{other.bytes_} {}
    Part& operator=(Part&& other) noexcept {
      Part taken{std::move(other)};
      std::swap(file_, taken.file_);
      std::swap(begin_, taken.begin_);
      std::swap(offset_, taken.offset_);
      std::swap(bytes_, taken.bytes_);
      return *this;
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() {
      if (file_ != nullptr) {
        file_->give_back(*this);
      }
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// The first byte's address modulo the page size at the time of writing. Memory aligned like
    /// this is read and written O_DIRECT.
    [[nodiscard]] std::size_t page_remainder() const noexcept {
      return static_cast<std::size_t>(offset_) - begin_;
    }

   private:
    friend class SpillFile;
    Part(SpillFile& file, std::size_t begin, std::size_t remainder, std::size_t bytes) noexcept
        : file_{&file},
          begin_{begin},
          offset_{static_cast<std::int64_t>(begin + remainder)},
          bytes_{bytes} {}

    SpillFile* file_;
    std::size_t begin_;  // of its pages
    std::int64_t offset_;
    std::size_t bytes_;
  };

  /// @param limit_bytes  how much it may hold, rounded up to pages.
  /// @throws Error{storage_failure} where there can be no such file in the folder, with the reason.
  SpillFile(std::string folder, std::size_t limit_bytes, Options options);

  /// @return nothing if the limit is reached.
  /// @throws Error{storage_failure} "writing N bytes at offset O of PATH: No space left on device".
  [[nodiscard]] std::optional<Part> write(std::span<const std::byte> bytes);
  /// @pre `bytes` is as long as the part. @throws Error{storage_failure}.
  void read(const Part& part, std::span<std::byte> bytes) const;

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return free_.used_bytes(); }
  /// True if the folder's file system is memory itself (tmpfs).
  [[nodiscard]] bool is_memory() const noexcept { return is_memory_; }

 private:
  void give_back(const Part& part) noexcept;

  std::string folder_;
  bool is_memory_ = false;
  FreeRanges free_;
  Descriptor descriptor_;
  std::unique_ptr<OutputFile> output_;
};

}  // namespace iocomp::disk
