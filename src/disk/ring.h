// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <liburing.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/futex.h"
#include "base/worker.h"
#include "disk/flush_window.h"

namespace iocomp::disk {

/// The result of a request: bytes written or 0, or a negative errno.
struct RingAnswer {
  std::uint64_t tag = 0;
  std::int64_t result = 0;
};

/// Requests to the kernel and its answers, through memory that both share (io_uring). What is asked
/// for starts at the next `submit`. Each request needs a place until it is submitted: see `room`.
class Ring {
 public:
  /// @param workers  of the kernel that write at the same time; 0: as many as it likes.
  /// @throws Error{unsupported} with nothing but the reason, such as "Operation not permitted".
  Ring(unsigned places, unsigned workers);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  /// The number of requests that can be asked for before the next `submit`.
  [[nodiscard]] std::size_t room() const noexcept;

  enum class Then { nothing, next };  ///< `next`: the request that follows begins when this is done
  void write(int descriptor, std::span<const std::byte> bytes, std::int64_t offset,
             std::uint64_t tag, Then then);
  void sync(int descriptor, std::uint64_t tag);
  void flush(int descriptor, const FileRange& range, std::uint64_t tag);
  /// A request that nobody has begun with ends with -ECANCELED.
  void cancel(std::uint64_t tag) noexcept;
  void submit() noexcept;

  /// From now on a thread of this ring submits. The kernel cancels the requests of a thread that
  /// ends, so those of a thread that the program ends would be asked for in vain.
  /// @throws Error{storage_failure} where the system gives no thread.
  void submit_by_thread();
  [[nodiscard]] bool submits_by_thread() const noexcept { return submitter_ != nullptr; }

  /// Append the answers that are there; never waits.
  void take(std::vector<RingAnswer>& answers);

  /// Sleep until an answer is there, the word (if any) has changed, or `longest` has passed. May
  /// return early.
  void wait(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) noexcept;

 private:
  io_uring_sqe& place() noexcept;
  void sleep(std::chrono::nanoseconds longest) noexcept;
  [[nodiscard]] bool ask_for_word(const FutexWord& word) noexcept;
  void withdraw_word() noexcept;
  void keep_answers() noexcept;

  io_uring ring_{};
  bool waits_on_words_ = false;  // the kernel can (6.7 and later)
  bool is_word_asked_ = false;
  bool is_refusal_told_ = false;
  std::vector<RingAnswer> kept_;       // seen while the word was withdrawn
  std::unique_ptr<Worker> submitter_;  // null: the caller submits
};

}  // namespace iocomp::disk
