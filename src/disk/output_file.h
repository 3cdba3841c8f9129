// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "base/open_folder.h"
#include "disk/flush_window.h"
#include "disk/options.h"

namespace iocomp::disk {

/// The work of one system call.
struct Request {
  bool direct = false;
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// The meaning of the system's answer to a request.
struct Answer {
  Request rest{};                    ///< what is still to be written; without bytes: nothing
  int error = 0;                     ///< an errno that cannot be helped
  std::optional<FileRange> flush{};  ///< gathered enough to start its write-back now
};

/// The part of a write that is not asked for yet, and which bytes of it may go O_DIRECT.
struct Remaining {
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
  FileRange direct;
};

/// One file that this process writes: a buffered descriptor, which it is given, and, where the file
/// system allows it, an O_DIRECT one, both held open from the first write to the last fsync so that
/// no write-back error is missed. `write` may be called by several threads for ranges that do not
/// overlap.
class OutputFile {
 public:
  /// @param file  opened O_RDWR. @param path  of it, for messages.
  OutputFile(Descriptor file, std::string path, const Options& options);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Write all bytes at `offset`. Whole file blocks whose memory is aligned alike go O_DIRECT in
  /// requests of at most `options.request_bytes` when the run is long enough; heads, tails and
  /// everything else are exact buffered writes (never read-modify-write), whose flush is started
  /// early.
  /// Sleeps as the file's pace demands.
  /// @throws Error{storage_failure} "writing N bytes at offset O of PATH: No space left on device".
  void write(std::int64_t offset, std::span<const std::byte> bytes);

  /// Make everything written through this object durable (fdatasync).
  /// @throws Error{storage_failure}.
  void sync();

  // The same in steps, for an engine that lets the kernel make the calls (RingEngine). The rules
  // for requests, and for the meaning of answers, are all here.

  /// A write of `bytes` at `offset`, nothing of it asked for.
  [[nodiscard]] Remaining begin_write(std::int64_t offset, std::span<const std::byte> bytes);
  /// Cut the next request off a run that has bytes left.
  /// @param most  bytes, in whole blocks of the disk, if the options do not say less.
  [[nodiscard]] Request take_request(
      Remaining& remaining, std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// The descriptor for a request, and the most bytes that one call may be given.
  [[nodiscard]] int descriptor(const Request& request) const noexcept;
  [[nodiscard]] std::size_t largest_call_bytes(const Request& request) const noexcept;
  /// Take note of what the system said: bytes written or a negative errno.
  [[nodiscard]] Answer answered(const Request& request, std::int64_t result);
  /// True if nothing more may be written: it would fail with ECANCELED.
  [[nodiscard]] bool is_fenced() const { return options_.is_fenced && options_.is_fenced(); }
  /// Sleep until the file's pace lets the next request through.
  void wait_for_pace() const;
  /// Carry out a request here and now. 0 or an errno.
  [[nodiscard]] int perform(Request request);
  /// The error that an fsync is known to end with, or 0: then ask for one.
  [[nodiscard]] int begin_sync();
  /// Take note of the errno of an fsync. The error that remains, or 0.
  [[nodiscard]] int end_sync(int error);
  /// "writing N bytes at offset O of PATH: No space left on device"
  [[nodiscard]] std::string write_story(std::int64_t offset, std::size_t bytes, int error) const;
  [[nodiscard]] std::string sync_story(int error) const;
  /// True if the file has no name any more: `sync` fails then.
  [[nodiscard]] bool is_removed() const noexcept { return has_lost_its_name(buffered_); }
  /// The errno with which `sync` would fail, as is known without one. 0: it may succeed.
  [[nodiscard]] int sync_error() const noexcept {
    const int error = sync_error_;
    return error != 0 ? error : is_removed() ? ENOENT : 0;
  }

  /// Make the file at least `bytes` long; bytes that were never written read as zero. The next
  /// `sync` makes the length durable, even if another process has made it so long. Never shortens
  /// the file, also when others extend it at the same time.
  /// @pre nobody writes the last of these bytes meanwhile.
  /// @throws Error{storage_failure}.
  void grow(std::int64_t bytes);

  /// The limit of the rate; null: none. A caller that writes in steps keeps to it.
  [[nodiscard]] const std::shared_ptr<Pace>& pace() const noexcept { return options_.pace; }
  /// True if long writes are divided among threads of this process.
  [[nodiscard]] bool is_divided() const noexcept {
    return options_.crew != nullptr && !options_.pace;
  }
  /// Write all bytes at `offset`, by all these threads where there are any. @throws like `write`.
  void write_by_all(std::int64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// True if long runs that are aligned go O_DIRECT.
  [[nodiscard]] bool takes_direct() const noexcept { return direct_.is_open() && !direct_refused_; }
  /// Bytes that went O_DIRECT, and through the page cache, so far.
  [[nodiscard]] std::uint64_t direct_bytes() const noexcept { return direct_bytes_.load(); }
  [[nodiscard]] std::uint64_t buffered_bytes() const noexcept { return buffered_bytes_.load(); }

 private:
  [[nodiscard]] int perform_all(Request request);
  [[nodiscard]] Answer answered_direct(const Request& request, std::int64_t result);
  [[nodiscard]] Answer answered_buffered(const Request& request, std::int64_t result);
  [[nodiscard]] FileRange direct_part(std::int64_t offset, std::span<const std::byte> bytes) const;
  void close(Descriptor& descriptor) noexcept;

  std::string path_;
  Options options_;
  std::int64_t block_bytes_ = 4096;  // of the file system; a power of two
  Descriptor buffered_;
  Descriptor direct_;                        // not open where O_DIRECT is off or refused
  std::atomic<bool> direct_refused_{false};  // by a write, although open allowed it
  std::atomic<bool> has_unsynced_{false};
  std::atomic<int> sync_error_{0};  // the system tells it once, we do every time
  FlushWindow window_;
  std::atomic<std::uint64_t> direct_bytes_{0};
  std::atomic<std::uint64_t> buffered_bytes_{0};
};

}  // namespace iocomp::disk
