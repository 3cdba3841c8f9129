#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "disk/flush_window.h"
#include "disk/options.h"

namespace iocomp::disk {

/// One file that this process writes: a buffered descriptor and, where the file system allows it,
/// an O_DIRECT one, both held open from the first write to the last fsync so that no write-back
/// error is missed. `write` may be called by several threads for ranges that do not overlap.
class OutputFile {
 public:
  /// Open `path` for writing, creating it (mode 0666 less umask) if it is not there; never
  /// truncates.
  /// @throws Error{storage_failure} "cannot open PATH: No such file or directory".
  OutputFile(std::string path, const Options& options);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Write all bytes at `offset`. Whole file blocks whose memory is aligned alike go O_DIRECT in
  /// requests of at most `options.request_bytes` when the run is long enough; heads, tails and
  /// everything else are exact buffered writes (never read-modify-write), whose flush is started
  /// early.
  /// @throws Error{storage_failure} "writing N bytes at offset O of PATH: No space left on device".
  void write(std::int64_t offset, std::span<const std::byte> bytes);

  /// Make everything written through this object durable (fdatasync).
  /// @throws Error{storage_failure}.
  void sync();

  /// Make the file at least `bytes` long; what was never written reads as zero. Never shortens it,
  /// also when others extend it at the same time (so: fallocate of the last byte, ftruncate only
  /// where the file system has no fallocate).
  /// @throws Error{storage_failure}.
  void grow(std::int64_t bytes);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Bytes that went O_DIRECT, and through the page cache, so far.
  [[nodiscard]] std::uint64_t direct_bytes() const noexcept { return direct_bytes_.load(); }
  [[nodiscard]] std::uint64_t buffered_bytes() const noexcept { return buffered_bytes_.load(); }

 private:
  // 0, or the errno of the first call that failed.
  [[nodiscard]] int write_buffered(std::int64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] int write_direct(std::int64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] FileRange direct_part(std::int64_t offset, std::span<const std::byte> bytes) const;
  void close_descriptor(int descriptor) noexcept;

  std::string path_;
  Options options_;
  std::int64_t block_bytes_ = 4096;  // of the file system; a power of two
  int buffered_ = -1;
  int direct_ = -1;                          // -1 where O_DIRECT is off or refused
  std::atomic<bool> direct_refused_{false};  // by a write, although open allowed it
  std::atomic<bool> has_unsynced_{false};
  std::atomic<int> sync_error_{0};  // the system tells it once, we do every time
  FlushWindow window_;
  std::atomic<std::uint64_t> direct_bytes_{0};
  std::atomic<std::uint64_t> buffered_bytes_{0};
};

}  // namespace iocomp::disk
